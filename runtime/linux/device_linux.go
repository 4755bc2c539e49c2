package linux

import (
	"fmt"
	"os"
	"syscall"
)

// deviceOf returns the device and the number of a file, as the kernel lists areas of
// memory.
func deviceOf(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	dev := uint64(s.Dev)
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&0xffffff00
	return fmt.Sprintf("%02x:%02x %d", major, minor, s.Ino)
}
