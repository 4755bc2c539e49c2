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
	slots  []textSlot // hash table with open addressing
	used   int
	seed   maphash.Seed
	buf    []byte
}

// A textSlot has a part of the hash beside the string, so that no other string is looked
// at than the one that is searched for: each is somewhere else in memory.
type textSlot struct {
	text
	hash uint32
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
	mask := uint32(len(a.slots) - 1)
	hash := uint32(maphash.Bytes(a.seed, s))
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := a.slots[i]
		if slot.text == 0 {
			t := a.keep(s)
			if t != 0 {
				a.slots[i] = textSlot{t, hash}
				a.used++
			}
			return t
		}
		if slot.hash == hash && bytes.Equal(a.bytes(slot.text), s) {
			return slot.text
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
	a.slots = make([]textSlot, max(1024, 2*len(old)))
	mask := uint32(len(a.slots) - 1)
	for _, slot := range old {
		if slot.text == 0 {
			continue
		}
		i := slot.hash & mask
		for a.slots[i].text != 0 {
			i = (i + 1) & mask
		}
		a.slots[i] = slot
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
