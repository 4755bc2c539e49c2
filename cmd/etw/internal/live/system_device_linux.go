package live

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// DeviceOf returns the device and the number of a file, as the kernel lists areas of
// memory.
func DeviceOf(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%02x:%02x %d", unix.Major(uint64(s.Dev)), unix.Minor(uint64(s.Dev)), s.Ino)
}
