//go:build !linux

package main

import "os"

// deviceOf is of the kernel of Linux.
func deviceOf(os.FileInfo) string { return "" }
