//go:build !unix

package desk

// withoutWaiting is nothing where folders have no pipes.
const withoutWaiting = 0
