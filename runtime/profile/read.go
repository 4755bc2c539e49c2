package profile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A layout is how a file has a profile.
type layout struct {
	name string
	// recognizes reports whether a file begins with head. Text is in UTF-8.
	recognizes func(head []byte) bool
	read       func(p *Profile, data []byte) error
}

// layouts are asked in this order.
var layouts = []layout{
	{"pprof", isPprof, readPprof},
	{"JSON", isJSON, readJSON},
	{"folded stacks", isFolded, readFolded},
}

// Recognizes reports whether a file that begins with head, of up to some hundred bytes, may
// be a profile. Of text and of JSON only [Read] can say.
func Recognizes(head []byte) bool { return layoutOf(utf8Of(head)) != nil }

func layoutOf(head []byte) *layout {
	for i := range layouts {
		if layouts[i].recognizes(head) {
			return &layouts[i]
		}
	}
	return nil
}

// ErrFormat says that a file is no profile of a kind that is known.
var ErrFormat = errors.New("not a profile")

// Read reads a file, which must be unpacked. An error says where the file is wrong, and is
// an [*etw.Damage] if that is at an offset.
func Read(data []byte) (*Profile, error) {
	if len(data) > maxSize {
		return nil, fmt.Errorf("profiles of more than %d bytes are not supported", maxSize)
	}
	text := utf8Of(data)
	l := layoutOf(text[:min(len(text), 512)])
	if l == nil {
		return nil, ErrFormat
	}
	p := &Profile{Format: l.name}
	if err := l.read(p, text); err != nil {
		return nil, err
	}
	if err := p.finish(len(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Format, err)
	}
	return p, nil
}

// wrong returns an error at an offset of a file.
func (p *Profile) wrong(offset int64, part, format string, args ...any) error {
	return &etw.Damage{Format: p.Format, Offset: offset, Part: part, Err: fmt.Errorf(format, args...)}
}

// utf8Of returns text in UTF-8 without a mark, of text in UTF-16 with one: some shells write
// so what is redirected to a file. Anything else is as it is.
func utf8Of(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for data = data[2:]; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return []byte(string(utf16.Decode(units)))
}
