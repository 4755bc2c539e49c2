//go:build !unix

package main

// withoutWaiting is nothing where folders have no pipes.
const withoutWaiting = 0
