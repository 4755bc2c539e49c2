package nettrace

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A cursor reads the rare parts of the format: metadata, headers of blocks. It
// is sticky: once something does not fit, bad is set and every read returns
// zero, so that its users check once, at the end.
type cursor struct {
	b   []byte
	off int
	bad bool
}

func (c *cursor) left() int { return len(c.b) - c.off }

// bytes returns the next n bytes.
func (c *cursor) bytes(n int) []byte {
	if c.bad || n < 0 || n > c.left() {
		c.bad = true
		return nil
	}
	b := c.b[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

// sub returns a cursor over the next n bytes.
func (c *cursor) sub(n int) cursor { return cursor{b: c.bytes(n), bad: c.bad} }

func (c *cursor) u8() uint8 {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) guid() (g etw.GUID) {
	copy(g[:], c.bytes(16))
	return g
}

// size32 reads a u32 that counts bytes to come.
func (c *cursor) size32() int {
	n := c.u32()
	if int64(n) > int64(c.left()) {
		c.bad = true
		return 0
	}
	return int(n)
}

// uvar reads a LEB128 number of at most bits bits.
func (c *cursor) uvar(bits int) uint64 {
	if c.bad {
		return 0
	}
	v, next := uvarint(c.b, c.off, bits)
	if next < 0 {
		c.bad = true
		return 0
	}
	c.off = next
	return v
}

// svar reads a zig-zag LEB128 number.
func (c *cursor) svar() int64 {
	v := c.uvar(64)
	return int64(v>>1) ^ -int64(v&1)
}

// vstr reads a LEB128 byte count and UTF-8.
func (c *cursor) vstr() string {
	n := c.uvar(32)
	if n > uint64(c.left()) {
		c.bad = true
		return ""
	}
	return string(c.bytes(int(n)))
}

// z16 reads UTF-16 that ends at a NUL.
func (c *cursor) z16() string {
	if c.bad {
		return ""
	}
	rest := c.b[c.off:]
	for i := 0; i+2 <= len(rest); i += 2 {
		if rest[i] == 0 && rest[i+1] == 0 {
			c.off += i + 2
			return decodeUTF16(rest[:i])
		}
	}
	c.bad = true
	return ""
}

func decodeUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// usual reads a LEB128 number of up to three bytes, as most have, at b[i:], which has
// as many. It returns the index after it, or i if it is longer. That another byte
// follows is a bit of the number until it does.
func usual(b []byte, i int) (v uint64, next int) {
	if v = uint64(b[i]); v < 1<<7 {
		return v, i + 1
	}
	if v += uint64(b[i+1])<<7 - 1<<7; v < 1<<14 {
		return v, i + 2
	}
	if v += uint64(b[i+2])<<14 - 1<<14; v < 1<<21 {
		return v, i + 3
	}
	return 0, i
}

// longNumber is uvarint for numbers of 32 bits, and for b that does not end in them.
func longNumber(b []byte, i int) (uint32, int) {
	v, next := usual(b, i)
	if next == i {
		v, next = uvarint(b, i, 32)
	}
	return uint32(v), next
}

// uvarint reads a LEB128 number of at most bits bits at b[i:]. It returns the
// index after it, or -1 if b ends first, -2 if the number is too large.
func uvarint(b []byte, i, bits int) (v uint64, next int) {
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
