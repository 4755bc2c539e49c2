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

// guidText has the place in the text, without braces, of each byte of a GUID.
var guidText = [16]int{6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34}

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
	for i, at := range guidText {
		if _, err := hex.Decode(g[i:i+1], []byte(s[at:at+2])); err != nil {
			return GUID{}, errGUID
		}
	}
	return g, nil
}

// IsZero reports whether g is the zero GUID.
func (g GUID) IsZero() bool { return g == GUID{} }

// String returns the registry form in lower case, with braces.
func (g GUID) String() string {
	text := []byte("{00000000-0000-0000-0000-000000000000}")
	for i, at := range guidText {
		hex.Encode(text[1+at:], g[i:i+1])
	}
	return string(text)
}
