// Package device names files by device and number, as the kernel of Linux lists them among the
// areas of memory of a process, and as its recorders write them.
package device

import (
	"fmt"
	"os"
	"syscall"
)

// Of returns the device and the number of a file, or "" if they are not known.
func Of(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	dev := uint64(s.Dev)
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&0xffffff00
	return fmt.Sprintf("%02x:%02x %d", major, minor, s.Ino)
}
