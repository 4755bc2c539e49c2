package etw

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// A GUID is a Windows globally unique identifier as its 16 bytes lie in a
// payload: the first three groups are little-endian. The zero GUID means that
// there is none. GUIDs are comparable and make good map keys.
type GUID [16]byte

var errGUID = errors.New("etw: not a GUID")

// guidText has the place in the text of each byte of a GUID: the text lists
// each group from its most significant byte.
var guidText = [16]int{6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34}

// ParseGUID reads a GUID in the registry form, with or without braces:
// {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}.
func ParseGUID(s string) (GUID, error) {
	text := s
	if len(text) == 38 && text[0] == '{' && text[37] == '}' {
		text = text[1:37]
	}
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return GUID{}, fmt.Errorf("%w: %q", errGUID, s)
	}
	var g GUID
	for i, at := range guidText {
		if _, err := hex.Decode(g[i:i+1], []byte(text[at:at+2])); err != nil {
			return GUID{}, fmt.Errorf("%w: %q", errGUID, s)
		}
	}
	return g, nil
}

// MustParseGUID is ParseGUID for constants; it panics on a malformed one.
//
//go:noinline
func MustParseGUID(s string) GUID {
	g, err := ParseGUID(s)
	if err != nil {
		panic(err)
	}
	return g
}

// IsZero reports whether g is the zero GUID.
func (g GUID) IsZero() bool { return g == GUID{} }

// AppendText appends the registry form in lower case without braces. It
// implements encoding.TextAppender and never fails.
func (g GUID) AppendText(b []byte) ([]byte, error) {
	n := len(b)
	b = append(b, "00000000-0000-0000-0000-000000000000"...)
	for i, at := range guidText {
		hex.Encode(b[n+at:], g[i:i+1])
	}
	return b, nil
}

// String returns the registry form in lower case without braces.
func (g GUID) String() string {
	b, _ := g.AppendText(make([]byte, 0, 36))
	return string(b)
}

// MarshalText implements encoding.TextMarshaler.
func (g GUID) MarshalText() ([]byte, error) { return g.AppendText(make([]byte, 0, 36)) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *GUID) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGUID(string(text))
	return err
}

// appendHex appends v in lower-case hexadecimal with at least width digits.
func appendHex(b []byte, v uint64, width int) []byte {
	const digits = "0123456789abcdef"
	n := width
	for n < 16 && v>>(4*n) != 0 {
		n++
	}
	for i := n - 1; i >= 0; i-- {
		b = append(b, digits[v>>(4*i)&0xf])
	}
	return b
}

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
