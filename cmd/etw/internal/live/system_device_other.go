//go:build !linux

package live

import "os"

// DeviceOf is of the kernel of Linux.
func DeviceOf(os.FileInfo) string { return "" }
