package unwind

import "bytes"

// A cursor takes numbers off bytes. After the first failure everything is zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// fixed takes a little-endian number of up to 8 bytes.
func (c *cursor) fixed(n uint64) (v uint64) {
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// extended is fixed with the sign of its highest bit.
func (c *cursor) extended(n uint64) uint64 {
	shift := 64 - 8*n
	return uint64(int64(c.fixed(n)<<shift) >> shift)
}

// text takes a text up to its end of 0.
func (c *cursor) text() string {
	n := bytes.IndexByte(c.b, 0)
	if n < 0 {
		c.b, c.bad = nil, true
		return ""
	}
	return string(c.take(uint64(n) + 1)[:n])
}

// unsigned takes a number in groups of seven bits.
func (c *cursor) unsigned() uint64 {
	v, _ := c.groups()
	return v
}

// signed takes one whose last group has the sign.
func (c *cursor) signed() int64 {
	v, bits := c.groups()
	if bits < 64 && v>>(bits-1)&1 != 0 {
		v |= ^uint64(0) << bits
	}
	return int64(v)
}

// groups takes a number in groups of seven bits, and tells how many bits they are.
func (c *cursor) groups() (v uint64, bits uint) {
	for {
		b := c.byte()
		if bits < 64 {
			v |= uint64(b&0x7f) << bits
		}
		if bits = min(bits+7, 70); b&0x80 == 0 {
			return v, bits
		}
	}
}
