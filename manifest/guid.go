package manifest

import (
	"encoding/hex"
	"errors"
)

// A GUID names a provider. It holds the 16 bytes as Windows lays them out in
// memory and in traces: the first three groups are little-endian. The zero GUID
// means that there is none.
type GUID [16]byte

var errGUID = errors.New("not a GUID of the form {00000000-0000-0000-0000-000000000000}")

// guidOrder lists the bytes of a GUID in the order in which its text does.
var guidOrder = [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}

// ParseGUID reads the registry form of a GUID, in either case, with its braces
// or without.
func ParseGUID(s string) (GUID, error) {
	if len(s) == 38 && s[0] == '{' && s[37] == '}' {
		s = s[1:37]
	}
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return GUID{}, errGUID
	}
	var g GUID
	i := 0
	for _, at := range guidOrder {
		if s[i] == '-' {
			i++
		}
		if _, err := hex.Decode(g[at:at+1], []byte(s[i:i+2])); err != nil {
			return GUID{}, errGUID
		}
		i += 2
	}
	return g, nil
}

// IsZero reports whether g is the zero GUID.
func (g GUID) IsZero() bool { return g == GUID{} }

// String returns the registry form in lower case, with braces.
func (g GUID) String() string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 38)
	b = append(b, '{')
	for i, at := range guidOrder {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, digits[g[at]>>4], digits[g[at]&0xf])
	}
	return string(append(b, '}'))
}
