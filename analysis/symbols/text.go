package symbols

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A text is the number of a string in an arena. 0 is the empty string.
type text uint32

const (
	chunkBits = 18 // of the size of a chunk of an arena
	chunkSize = 1 << chunkBits
	maxText   = chunkSize / 2 // payloads hold less than 64 KB of UTF-16
	maxChunks = 1 << (32 - chunkBits)
)

// An arena keeps each different string once, as UTF-8, in large chunks: a million
// methods have names that are mostly those of others.
type arena struct {
	chunks [][]byte
	slots  []text // hash table with open addressing
	used   int
	seed   maphash.Seed
	buf    []byte
}

// of returns the number of a string of a payload.
func (a *arena) of(s etw.UTF16) text {
	if s.Len() == 0 {
		return 0
	}
	a.buf = s.AppendTo(a.buf[:0])
	return a.add(a.buf)
}

func (a *arena) add(s []byte) text {
	if len(s) == 0 {
		return 0
	}
	if len(s) > maxText {
		s = s[:maxText]
	}
	if 4*a.used >= 3*len(a.slots) {
		a.grow()
	}
	mask := uint64(len(a.slots) - 1)
	for i := maphash.Bytes(a.seed, s) & mask; ; i = (i + 1) & mask {
		t := a.slots[i]
		if t == 0 {
			if t = a.keep(s); t != 0 {
				a.slots[i] = t
				a.used++
			}
			return t
		}
		if bytes.Equal(a.bytes(t), s) {
			return t
		}
	}
}

// keep appends a string. Beyond 4 GB of names there are none.
func (a *arena) keep(s []byte) text {
	n := len(a.chunks) - 1
	if n < 0 || len(a.chunks[n])+len(s)+binary.MaxVarintLen32 > chunkSize {
		if len(a.chunks) == maxChunks {
			return 0
		}
		a.chunks = append(a.chunks, make([]byte, 0, chunkSize))
		n++
		if n == 0 { // so that no string has the number 0
			a.chunks[0] = append(a.chunks[0], 0)
		}
	}
	t := text(n<<chunkBits | len(a.chunks[n]))
	c := binary.AppendUvarint(a.chunks[n], uint64(len(s)))
	a.chunks[n] = append(c, s...)
	return t
}

func (a *arena) grow() {
	if a.slots == nil {
		a.seed = maphash.MakeSeed()
	}
	old := a.slots
	a.slots = make([]text, max(1024, 2*len(old)))
	mask := uint64(len(a.slots) - 1)
	for _, t := range old {
		if t == 0 {
			continue
		}
		i := maphash.Bytes(a.seed, a.bytes(t)) & mask
		for a.slots[i] != 0 {
			i = (i + 1) & mask
		}
		a.slots[i] = t
	}
}

// bytes returns a string, which stays as it is.
func (a *arena) bytes(t text) []byte {
	if t == 0 {
		return nil
	}
	c := a.chunks[t>>chunkBits][t&(chunkSize-1):]
	n, w := binary.Uvarint(c)
	return c[w : w+int(n)]
}
