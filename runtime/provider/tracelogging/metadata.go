package tracelogging

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// metadata makes the description in an event itself:
//
//	uint16 size | tags, here one byte 0 | name NUL | fields ...
//
// where a field is
//
//	name NUL | in type | [out type, or the number of members] | [uint16 count]
type metadata struct {
	b   []byte
	err error
}

// Bits of the in type.
const (
	hasOut   = 0x80 // an out type follows
	constant = 0x20 // an array of so many elements as the count says
	variable = 0x40 // an array whose number of elements the payload has
)

// maxMembers is how many members a struct can have: the number takes 7 bits.
const maxMembers = 127

func (m *metadata) text(s string) {
	if strings.IndexByte(s, 0) >= 0 && m.err == nil {
		m.err = fmt.Errorf("the name %q contains a NUL", s)
	}
	m.b = append(append(m.b, s...), 0)
}

// field appends the description of a field, and its members.
func (m *metadata) field(f *field) {
	m.text(f.desc.Name)
	in, out := f.in, f.out
	if f.members != nil {
		out = byte(len(f.members))
		if len(f.members) > maxMembers && m.err == nil {
			m.err = fmt.Errorf("%s has %d fields, of at most %d", f.desc.Name, len(f.members), maxMembers)
		}
	}
	switch f.shape {
	case oneOf:
	case fixed:
		in |= constant
	case slice:
		in |= variable
	}
	if out != 0 {
		m.b = append(m.b, in|hasOut, out)
	} else {
		m.b = append(m.b, in)
	}
	if f.shape == fixed {
		m.b = binary.LittleEndian.AppendUint16(m.b, uint16(f.count))
	}
	for i := range f.members {
		m.field(&f.members[i])
	}
}

// done returns the metadata.
func (m *metadata) done() ([]byte, error) {
	if len(m.b) > math.MaxUint16 && m.err == nil {
		m.err = fmt.Errorf("its description takes %d bytes, of at most %d", len(m.b), math.MaxUint16)
	}
	binary.LittleEndian.PutUint16(m.b, uint16(len(m.b)))
	return m.b, m.err
}
