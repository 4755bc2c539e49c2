package manifest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A text is the content of a file in UTF-8, without a byte order mark.
type text struct {
	src  []byte
	wide bool // it was UTF-16
}

// decodeText finds out the encoding of a file by its byte order mark, or by its begin. It
// returns the offset of the fault, in the UTF-8 form.
func decodeText(data []byte) (t text, at int, problem string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		t.src = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		t.wide = true
		t.src, problem = decodeUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		t.wide = true
		t.src, problem = decodeUTF16(data[2:], binary.BigEndian)
	case bytes.HasPrefix(data, []byte("<\x00")): // some editors leave the mark out
		t.wide = true
		t.src, problem = decodeUTF16(data, binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\x00<")):
		t.wide = true
		t.src, problem = decodeUTF16(data, binary.BigEndian)
	default:
		t.src = data
	}
	if problem != "" {
		return t, len(t.src), problem
	}
	at, problem = illegalChar(t.src)
	return t, at, problem
}

// decodeUTF16 converts p to UTF-8. It stops at the first fault and names it.
func decodeUTF16(p []byte, order binary.ByteOrder) ([]byte, string) {
	out := make([]byte, 0, len(p)/2+len(p)/8)
	for i := 0; i < len(p); i += 2 {
		if i+1 == len(p) {
			return out, "the UTF-16 text ends in the middle of a character; is the file cut off?"
		}
		r := rune(order.Uint16(p[i:]))
		if utf16.IsSurrogate(r) {
			if i+3 >= len(p) {
				return out, "the UTF-16 text ends in the middle of a character; is the file cut off?"
			}
			r = utf16.DecodeRune(r, rune(order.Uint16(p[i+2:])))
			if r == utf8.RuneError {
				return out, "unpaired surrogate; save the file as UTF-8"
			}
			i += 2
		}
		out = utf8.AppendRune(out, r)
	}
	return out, ""
}

// illegalChar returns the offset of the first character that XML forbids, or
// no problem.
func illegalChar(src []byte) (at int, problem string) {
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return i, fmt.Sprintf("character U+%04X is not allowed in XML; remove it", c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return i, fmt.Sprintf("byte 0x%02x is not UTF-8; save the file as UTF-8", c)
		case !isXMLChar(r):
			return i, fmt.Sprintf("character U+%04X is not allowed in XML; remove it", r)
		}
		i += n
	}
	return 0, ""
}

// isXMLChar reports whether an XML document may contain r.
func isXMLChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		' ' <= r && r <= 0xd7ff || 0xe000 <= r && r <= 0xfffd || 0x10000 <= r && r <= 0x10ffff
}

// charsetReader is called for the encoding that an XML declaration names, if it
// is other than UTF-8. The text is UTF-8 by now, so all there is to decide is
// whether the declaration was true.
func (t text) charsetReader(label string, r io.Reader) (io.Reader, error) {
	if strings.HasPrefix(strings.ToLower(label), "utf-16") {
		if t.wide {
			return r, nil
		}
	} else if isASCII(t.src) {
		return r, nil
	}
	return nil, fmt.Errorf("the file is not in the encoding %s that it declares, or etwgen does not know that encoding; save it as UTF-8", quote(label))
}

func isASCII(p []byte) bool {
	return !slices.ContainsFunc(p, func(c byte) bool { return c >= utf8.RuneSelf })
}
