package exceptions

import (
	"bytes"
	"slices"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An anyThrown is an exception that may have no message: .NET Core 3.1 writes nothing for it, not
// even the end of a string.
type anyThrown struct{ clr.AnyExceptionThrown }

// DecodeVersion sets e from the payload p of a version and returns how many bytes it read.
func (e *anyThrown) DecodeVersion(version uint8, p []byte, ptr etw.PtrSize) (int, error) {
	n, err := e.AnyExceptionThrown.DecodeVersion(version, p, ptr)
	rest := 8 + 8 // the address, HRESULT, flags and number of the runtime
	if ptr == etw.Ptr32 {
		rest = 4 + 8
	}
	name := len(p) - rest
	if err == nil || name < 2 || name%2 != 0 || !endsThere(p[:name]) {
		return n, err
	}
	_, err = e.AnyExceptionThrown.DecodeVersion(version, slices.Concat(p[:name], []byte{0, 0}, p[name:]), ptr)
	return len(p), err
}

// endsThere reports whether p is one string with its end.
func endsThere(p []byte) bool {
	for i := 0; i < len(p); i += 2 {
		if bytes.Equal(p[i:i+2], []byte{0, 0}) {
			return i+2 == len(p)
		}
	}
	return false
}
