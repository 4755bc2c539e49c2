package ecma335

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// longestName is how many bytes a name may have. Compilers allow a quarter of it.
const longestName = 4096

// String returns a string of the heap of names. It is "" if there is none, or none that
// ends within reason: many rows may have the same one.
func (m *Metadata) String(at uint32) string {
	if uint64(at) >= uint64(len(m.strings)) {
		return ""
	}
	b := m.strings[at:min(uint64(len(m.strings)), uint64(at)+longestName)]
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// Blob returns bytes of the heap of them. It is nil if there are none.
func (m *Metadata) Blob(at uint32) []byte { return sized(m.blobs, at) }

// GUID returns one of the heap of GUIDs, which count from 1, as it is in the file.
func (m *Metadata) GUID(i uint32) [16]byte {
	if i == 0 || uint64(i)*16 > uint64(len(m.guids)) {
		return [16]byte{}
	}
	return [16]byte(m.guids[(i-1)*16:])
}

// UserString returns a string that code has, by its token.
func (m *Metadata) UserString(t Token) (string, bool) {
	b := sized(m.userStrings, t.Row())
	if t.Table() != userStrings || b == nil {
		return "", false
	}
	// A last byte says whether there are characters that need care.
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), true
}

// sized returns the bytes that a place in a heap has, behind their count.
func sized(heap []byte, at uint32) []byte {
	if uint64(at) >= uint64(len(heap)) {
		return nil
	}
	c := NewCursor(heap[at:])
	return c.Bytes(c.Uint())
}

// A Cursor reads the compressed numbers, and other parts of signatures and attributes. After
// the first failure everything is zero.
type Cursor struct {
	b      []byte
	failed bool
}

// NewCursor returns a cursor at the begin of b.
func NewCursor(b []byte) *Cursor { return &Cursor{b: b} }

// Failed reports whether more was read than there is, or something that cannot be.
func (c *Cursor) Failed() bool { return c.failed }

// Left returns how many bytes are left.
func (c *Cursor) Left() int { return len(c.b) }

// fail makes c fail.
func (c *Cursor) fail() { c.failed, c.b = true, nil }

// Bytes reads n bytes.
func (c *Cursor) Bytes(n uint32) []byte {
	if c.failed || uint64(n) > uint64(len(c.b)) {
		c.fail()
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// Byte reads a byte.
func (c *Cursor) Byte() byte {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// peek returns the next byte, or 0.
func (c *Cursor) peek() byte {
	if len(c.b) == 0 {
		return 0
	}
	return c.b[0]
}

// Uint reads a compressed number, of 7, 14 or 29 bits.
func (c *Cursor) Uint() uint32 {
	first := c.Byte()
	switch {
	case first&0x80 == 0:
		return uint32(first)
	case first&0xc0 == 0x80:
		return uint32(first&0x3f)<<8 | uint32(c.Byte())
	case first&0xe0 == 0xc0:
		if b := c.Bytes(3); b != nil {
			return uint32(first&0x1f)<<24 | uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
		}
	}
	c.fail()
	return 0
}

// Int reads a compressed number with a sign, which is its lowest bit.
func (c *Cursor) Int() int32 {
	first := c.peek()
	v := c.Uint()
	n := int32(v >> 1)
	if v&1 == 0 {
		return n
	}
	switch {
	case first&0x80 == 0:
		return n - 1<<6
	case first&0xc0 == 0x80:
		return n - 1<<13
	}
	return n - 1<<28
}

// TypeDefOrRef reads a reference to a type.
func (c *Cursor) TypeDefOrRef() Token {
	t, row := untag(codedTables[typeDefOrRef-coded], c.Uint())
	if t == noTable || row == 0 {
		return 0
	}
	return MakeToken(t, row)
}
