package etw

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A GUID is a Windows globally unique identifier as its 16 bytes lie in a
// payload: the first three groups are little-endian. The zero GUID means that
// there is none. GUIDs are comparable and make good map keys.
type GUID [16]byte

var errGUID = errors.New("etw: not a GUID")

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
	// The text lists bytes from the most significant of each group.
	order := [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}
	i := 0
	for _, at := range order {
		if text[i] == '-' {
			i++
		}
		hi, ok1 := unhex(text[i])
		lo, ok2 := unhex(text[i+1])
		if !ok1 || !ok2 {
			return GUID{}, fmt.Errorf("%w: %q", errGUID, s)
		}
		g[at] = hi<<4 | lo
		i += 2
	}
	return g, nil
}

// MustParseGUID is ParseGUID for constants; it panics on a malformed one.
func MustParseGUID(s string) GUID {
	g, err := ParseGUID(s)
	if err != nil {
		panic(err)
	}
	return g
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// IsZero reports whether g is the zero GUID.
func (g GUID) IsZero() bool { return g == GUID{} }

// AppendText appends the registry form in lower case without braces. It
// implements encoding.TextAppender and never fails.
func (g GUID) AppendText(b []byte) ([]byte, error) {
	b = appendHex(b, uint64(binary.LittleEndian.Uint32(g[0:])), 8)
	b = append(b, '-')
	b = appendHex(b, uint64(binary.LittleEndian.Uint16(g[4:])), 4)
	b = append(b, '-')
	b = appendHex(b, uint64(binary.LittleEndian.Uint16(g[6:])), 4)
	b = append(b, '-')
	b = appendHex(b, uint64(binary.BigEndian.Uint16(g[8:])), 4)
	b = append(b, '-')
	b = appendHex(b, uint64(binary.BigEndian.Uint16(g[10:])), 4)
	return appendHex(b, uint64(binary.BigEndian.Uint32(g[12:])), 8), nil
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
