package provider

import "github.com/etwgen/etwgen/runtime/etw"

// onEnable is the EnableCallback of a provider: numbers of 64 bits come in two words. Of
// a number that is smaller than a word the rest of the word is undefined.
func onEnable(source *etw.GUID, code, level, any, anyHigh, all, allHigh uintptr, filter *dataDescriptor, id uintptr) uintptr {
	enableCallback(id, source, uint32(code), uint8(level), join(any, anyHigh), join(all, allHigh), filter)
	return 0
}
