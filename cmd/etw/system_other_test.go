//go:build !linux

package main

// busyProcess is a program of tests on Linux.
func busyProcess() {}
