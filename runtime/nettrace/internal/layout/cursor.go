package layout

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Cursor reads the rare parts of the format: metadata, headers of blocks. It
// is sticky: once something does not fit, Bad is set and every read returns
// zero, so that its users check once, at the end.
type Cursor struct {
	B   []byte
	Off int
	Bad bool
}

func (c *Cursor) Left() int { return len(c.B) - c.Off }

// Bytes returns the next n bytes.
func (c *Cursor) Bytes(n int) []byte {
	if c.Bad || n < 0 || n > c.Left() {
		c.Bad = true
		return nil
	}
	b := c.B[c.Off : c.Off+n : c.Off+n]
	c.Off += n
	return b
}

// Sub returns a cursor over the next n bytes.
func (c *Cursor) Sub(n int) Cursor { return Cursor{B: c.Bytes(n), Bad: c.Bad} }

func (c *Cursor) U8() uint8 {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *Cursor) U16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *Cursor) U32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *Cursor) U64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *Cursor) GUID() (g etw.GUID) {
	copy(g[:], c.Bytes(16))
	return g
}

// Size32 reads a u32 that counts bytes to come.
func (c *Cursor) Size32() int {
	n := c.U32()
	if int64(n) > int64(c.Left()) {
		c.Bad = true
		return 0
	}
	return int(n)
}

// Uvar reads a LEB128 number of at most bits bits.
func (c *Cursor) Uvar(bits int) uint64 {
	if c.Bad {
		return 0
	}
	v, next := Uvarint(c.B, c.Off, bits)
	if next < 0 {
		c.Bad = true
		return 0
	}
	c.Off = next
	return v
}

// Svar reads a zig-zag LEB128 number.
func (c *Cursor) Svar() int64 {
	v := c.Uvar(64)
	return int64(v>>1) ^ -int64(v&1)
}

// Vstr reads a LEB128 byte count and UTF-8.
func (c *Cursor) Vstr() string {
	n := c.Uvar(32)
	if n > uint64(c.Left()) {
		c.Bad = true
		return ""
	}
	return string(c.Bytes(int(n)))
}

// z16 reads UTF-16 that ends at a NUL.
func (c *Cursor) z16() string {
	if c.Bad {
		return ""
	}
	text, rest := etw.CutUTF16(c.B[c.Off:])
	if rest == nil {
		c.Bad = true
		return ""
	}
	c.Off = len(c.B) - len(rest)
	return text.String()
}

// Uvarint reads a LEB128 number of at most bits bits at b[i:]. It returns the
// index after it, or -1 if b ends first, -2 if the number is too large.
func Uvarint(b []byte, i, bits int) (v uint64, next int) {
	for shift := 0; ; shift += 7 {
		if i >= len(b) {
			return 0, -1
		}
		c := b[i]
		i++
		if shift+7 > bits && c>>(bits-shift) != 0 {
			return 0, -2
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
}
