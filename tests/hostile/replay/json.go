package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// equalJSON reports whether two documents say the same, in the same order.
func equalJSON(a, b []byte) bool {
	d, e := decoder(a), decoder(b)
	for {
		s, err1 := d.Token()
		t, err2 := e.Token()
		if err1 != nil || err2 != nil {
			return err1 == io.EOF && err2 == io.EOF
		}
		if s != t && !equalNumbers(s, t) {
			return false
		}
	}
}

func decoder(b []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d
}

// equalNumbers compares numbers, of which those with a fraction or an exponent
// can be written in several ways.
func equalNumbers(s, t json.Token) bool {
	m, ok1 := s.(json.Number)
	n, ok2 := t.(json.Number)
	if !ok1 || !ok2 || !strings.ContainsAny(string(m+n), ".eE") {
		return false
	}
	x, err1 := strconv.ParseFloat(string(m), 64)
	y, err2 := strconv.ParseFloat(string(n), 64)
	return err1 == nil && err2 == nil && x == y
}
