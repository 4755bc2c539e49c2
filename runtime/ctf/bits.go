package ctf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
)

// errEnd says that something goes on behind the end of its packet.
var errEnd = errors.New("it goes on behind the end of its packet")

// windowSize is how much of a stream is in memory.
const windowSize = 16 << 10

// A cursor reads a stream bit by bit, through a window.
type cursor struct {
	src    io.ReaderAt
	size   int64 // of the file
	packet int64 // where in the file the packet begins

	at, end int64 // bits from the beginning of the packet

	window []byte
	from   int64 // where in the file the window begins
	err    error // of src
}

// start goes to a packet at a place of the file, of size bytes.
func (c *cursor) start(packet, size int64) { c.packet, c.at, c.end = packet, 0, size*8 }

// align goes on to a multiple of n bits.
func (c *cursor) align(n int) { c.at = (c.at + int64(n) - 1) &^ (int64(n) - 1) }

// peek returns the bytes from that of the next bit on: n, or fewer at the end of the packet.
func (c *cursor) peek(n int) []byte {
	at := c.packet + c.at/8
	n = int(min(int64(n), c.packet+(c.end+7)/8-at))
	if n <= 0 {
		return nil
	}
	if at < c.from || at+int64(n) > c.from+int64(len(c.window)) {
		c.fill(at)
	}
	return c.window[min(at-c.from, int64(len(c.window))):][:max(0, min(n, len(c.window)-int(at-c.from)))]
}

// fill has the window begin at a place of the file.
func (c *cursor) fill(at int64) {
	if c.window == nil {
		c.window = make([]byte, windowSize)
	}
	c.window, c.from = c.window[:min(windowSize, max(c.size-at, 0))], at
	n, err := c.src.ReadAt(c.window, at)
	if c.window = c.window[:n]; err != nil && err != io.EOF {
		c.err = err
	}
}

// number reads a number of size bits.
func (c *cursor) number(size int, big bool) (v uint64, err error) {
	if int64(size) > c.end-c.at {
		return 0, errEnd
	}
	off := int(c.at & 7)
	p := c.peek((off + size + 7) / 8)
	if len(p) < (off+size+7)/8 {
		return 0, c.short()
	}
	c.at += int64(size)
	if off == 0 && size&7 == 0 {
		return whole(p, big), nil
	}
	for got := 0; got < size; off = 0 {
		one, take := uint64(p[0]), min(8-off, size-got)
		mask := uint64(1)<<take - 1
		if p = p[1:]; big {
			v = v<<take | one>>(8-off-take)&mask
		} else {
			v |= one >> off & mask << got
		}
		got += take
	}
	return v, nil
}

// short is the error of a stream that has fewer bytes than its packets say.
func (c *cursor) short() error {
	return cmp.Or(c.err, errEnd)
}

// whole reads a number of whole bytes.
func whole(p []byte, big bool) (v uint64) {
	switch {
	case len(p) == 4 && !big:
		return uint64(binary.LittleEndian.Uint32(p))
	case len(p) == 8 && !big:
		return binary.LittleEndian.Uint64(p)
	}
	for i, c := range p {
		if big {
			v = v<<8 | uint64(c)
		} else {
			v |= uint64(c) << (8 * i)
		}
	}
	return v
}
