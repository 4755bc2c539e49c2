package evtx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The layout of a record: its head, binary XML, and its size again.
const (
	recordMagic = "**\x00\x00"
	recordHead  = 24
)

// A chunk is one of a file, and a place in it.
type chunk struct {
	*parser
	offset  int64
	good    bool // its head has the magic
	at      int
	next    int // where the record begins that follows the one before
	free    int // where, by its head, its records end
	records int
	steps   int
	from    int    // where the records begin that were moved
	moved   int    // how far in the file they are from where they should be
	nodes   []node // of the record that was read last
}

func (c *chunk) context() *context { return &context{parser: c.parser, steps: &c.steps} }

// seek moves to the next place that a record begins at, if there is one. Records lie at
// multiples of 8.
func (c *chunk) seek() bool {
	for c.at = (c.at + 7) &^ 7; c.at+recordHead+4 <= len(c.b); c.at += 8 {
		if bytes.HasPrefix(c.b[c.at:], []byte(recordMagic)) {
			return true
		}
	}
	return false
}

// size returns the size of the record that begins here.
func (c *chunk) size() (int, error) {
	n := int64(binary.LittleEndian.Uint32(c.b[c.at+4:]))
	if n < recordHead+4 || n > int64(len(c.b)-c.at) {
		return 0, fmt.Errorf("it has %d bytes, its chunk another %d", n, len(c.b)-c.at)
	}
	if int64(binary.LittleEndian.Uint32(c.b[c.at+int(n)-4:])) != n {
		return 0, errors.New("its size at the end is another than at its beginning: it is overwritten")
	}
	return int(n), nil
}
