//go:build !linux

package linux

import "os"

// deviceOf is of the kernel of Linux.
func deviceOf(os.FileInfo) string { return "" }
