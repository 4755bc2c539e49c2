package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kinds of fields in messages of Protocol Buffers.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// A field is one of a message.
type field struct {
	number int
	kind   int
	v      uint64 // of a number
	b      []byte // of a string, a message or packed numbers
	at     int64  // offset in the file, behind the tag and the length
}

// A message is the rest of one, and its place in the file.
type message struct {
	b  []byte
	at int64
}

var (
	errVarint = errors.New("it ends within a number, or the number has more than 64 bits")
	errShort  = errors.New("it ends within a field")
)

// number takes a number of variable length.
func (m *message) number() (uint64, error) {
	v, n := binary.Uvarint(m.b)
	if n <= 0 {
		return 0, errVarint
	}
	m.skip(n)
	return v, nil
}

func (m *message) skip(n int) { m.b, m.at = m.b[n:], m.at+int64(n) }

// next takes a field. There must be one.
func (m *message) next() (f field, err error) {
	tag, err := m.number()
	if err != nil {
		return f, err
	}
	f.number, f.kind = int(tag>>3&(1<<29-1)), int(tag&7)
	if tag>>3 == 0 || tag>>3 >= 1<<29 {
		return f, fmt.Errorf("%d is not the number of a field", tag>>3)
	}
	f.at = m.at
	size := 0
	switch f.kind {
	case wireVarint:
		f.v, err = m.number()
		return f, err
	case wireFixed64:
		size = 8
	case wireFixed32:
		size = 4
	case wireBytes:
		n, err := m.number()
		if err != nil {
			return f, err
		}
		f.at = m.at
		if n > uint64(len(m.b)) {
			return f, errShort
		}
		f.b = m.b[:n]
		m.skip(int(n))
		return f, nil
	default:
		return f, fmt.Errorf("a field of kind %d is in no profile", f.kind)
	}
	if len(m.b) < size {
		return f, errShort
	}
	if f.v = uint64(binary.LittleEndian.Uint32(m.b)); size == 8 {
		f.v = binary.LittleEndian.Uint64(m.b)
	}
	m.skip(size)
	return f, nil
}

// fields calls do for each field of a message at an offset of the file.
func (p *Profile) fields(part string, b []byte, at int64, do func(f *field) error) error {
	m := message{b, at}
	for len(m.b) > 0 {
		start := m.at
		f, err := m.next()
		if err != nil {
			return p.wrong(start, part, "%w", err)
		}
		if err := do(&f); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends the values of a repeated field of numbers, packed or not.
func (p *Profile) numbers(part string, into []uint64, f *field) ([]uint64, error) {
	if f.kind != wireBytes {
		return append(into, f.v), nil
	}
	m := message{f.b, f.at}
	for len(m.b) > 0 {
		v, err := m.number()
		if err != nil {
			return into, p.wrong(m.at, part, "%w", err)
		}
		into = append(into, v)
	}
	return into, nil
}
