package etw

import (
	"crypto/sha1"
	"strings"
	"unicode/utf16"
)

// nameSpace is the UUID namespace of providers' names.
var nameSpace = [16]byte{
	0x48, 0x2c, 0x2d, 0xb2, 0xc3, 0x90, 0x47, 0xc8, 0x87, 0xf8, 0x1a, 0x15, 0xbf, 0xc1, 0x30, 0xfb,
}

// NameGUID returns the GUID that .NET's EventSource and TraceLogging make of the name of
// a provider that has no other. Upper and lower case are the same.
func NameGUID(name string) GUID {
	h := sha1.New()
	h.Write(nameSpace[:])
	var unit [2]byte
	for _, u := range utf16.Encode([]rune(strings.ToUpper(name))) {
		unit[0], unit[1] = byte(u>>8), byte(u)
		h.Write(unit[:])
	}
	g := GUID(h.Sum(nil)[:16])
	// Version 5 is stamped on the byte that is the high one of the third group once the
	// bytes are taken as a GUID of Windows.
	g[7] = g[7]&0x0f | 0x50
	return g
}
