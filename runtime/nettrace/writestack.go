package nettrace

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A stackTable numbers call stacks, each once between two sequence points.
type stackTable struct {
	data    []byte // of all stacks, as a block has them
	count   uint32
	written uint32 // how many stacks are in the stream
	writeAt int    // where the others begin in data
	slots   []stackSlot
	taken   int // of slots
}

// A stackSlot is where a stack is in data. The number of one that is not taken is 0.
type stackSlot struct {
	hash   uint64
	number uint32
	at     uint32
}

var stackSeed = maphash.MakeSeed()

func (t *stackTable) begin() {
	if t.slots == nil {
		t.slots = make([]stackSlot, 1<<10)
	}
	t.forget()
	t.count, t.written = 0, 0
}

// forget drops the stacks, but not their numbers.
func (t *stackTable) forget() {
	clear(t.slots)
	t.data, t.writeAt, t.taken = t.data[:0], 0, 0
}

// of returns the number of a stack; that of none is 0.
func (t *stackTable) of(addresses []byte) uint32 {
	if len(addresses) == 0 {
		return 0
	}
	hash := maphash.Bytes(stackSeed, addresses)
	slot := t.find(hash, addresses)
	if slot.number != 0 {
		return slot.number
	}
	t.count++
	*slot = stackSlot{hash, t.count, uint32(len(t.data))}
	number := t.count
	t.data = binary.LittleEndian.AppendUint32(t.data, uint32(len(addresses)))
	t.data = append(t.data, addresses...)
	if t.taken++; t.taken > len(t.slots)/2 {
		t.grow()
	}
	return number
}

// find returns the slot of a stack, or that in which it belongs.
func (t *stackTable) find(hash uint64, addresses []byte) *stackSlot {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.number == 0 || s.hash == hash && bytes.Equal(t.stack(s.at), addresses) {
			return s
		}
	}
}

func (t *stackTable) stack(at uint32) []byte {
	n := binary.LittleEndian.Uint32(t.data[at:])
	return t.data[at+4 : at+4+n]
}

func (t *stackTable) grow() {
	old := t.slots
	t.slots = make([]stackSlot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// flush writes the stacks that are not in the stream yet.
func (t *stackTable) flush(w *Writer) {
	if t.written == t.count {
		return
	}
	b := binary.LittleEndian.AppendUint32(nil, t.written+1)
	b = binary.LittleEndian.AppendUint32(b, t.count-t.written)
	w.writeBlock(layout.KindStacks, append(b, t.data[t.writeAt:]...))
	t.written, t.writeAt = t.count, len(t.data)
	if len(t.data) > pointStacks { // without sequence points: the same ones get other numbers
		t.forget()
	}
}

// pending returns how many bytes are not in the stream yet.
func (t *stackTable) pending() int { return len(t.data) - t.writeAt }

// addresses returns the addresses of a stack in the width of the stream.
func (w *Writer) addresses(s etw.Stack) []byte {
	if len(s.Addresses) == 0 || s.PtrSize.Bytes() == w.header.PointerSize.Bytes() {
		return s.Addresses
	}
	var b []byte
	for a := range s.All() {
		if w.header.PointerSize == etw.Ptr32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(a))
		} else {
			b = binary.LittleEndian.AppendUint64(b, a)
		}
	}
	return b
}
