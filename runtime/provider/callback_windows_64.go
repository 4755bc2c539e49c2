//go:build windows && !386 && !arm

package provider

import "github.com/etwgen/etwgen/runtime/etw"

// onEnable is the EnableCallback of a provider. Of a number that is smaller than a word
// the rest of the word is undefined.
func onEnable(source *etw.GUID, code, level, any, all uintptr, filter *dataDescriptor, id uintptr) uintptr {
	enableCallback(id, source, uint32(code), uint8(level), uint64(any), uint64(all), filter)
	return 0
}
