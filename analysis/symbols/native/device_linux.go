package native

import (
	"fmt"
	"syscall"
)

// deviceOf returns the device of a file, and its number there, as recorders write them.
func deviceOf(path string) string {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return ""
	}
	dev := uint64(st.Dev)
	major, minor := dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff
	return fmt.Sprintf("%02x:%02x %d", uint32(major), uint32(minor), st.Ino)
}
