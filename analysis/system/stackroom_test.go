package system

import (
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestStackRoom: once stacks take all the room, the outermost frame of new ones is kept, and none once
// there are as many of these; stacks that are known stay whole.
func TestStackRoom(t *testing.T) {
	table := stackTable{byHash: make(map[uint64]StackID)}
	const frames = 1 << 13
	stack := func(i, frames int) etw.Stack {
		b := make([]byte, 8*frames)
		binary.LittleEndian.PutUint64(b, uint64(i))
		binary.LittleEndian.PutUint64(b[len(b)-8:], uint64(i+1)) // the outermost
		return etw.Stack{Addresses: b, PtrSize: etw.Ptr64}
	}
	whole, cut, none := 0, 0, 0
	for i := range maxStackBytes / (8 * frames) * 2 {
		switch s, _ := table.half(table.intern(stack(i, frames))); {
		case s.Len() == frames:
			whole++
		case s.Len() == 2 && s.At(0) == NoRoom && s.At(1) == uint64(i+1):
			cut++
		default:
			t.Fatalf("stack %d: %d frames", i, s.Len())
		}
	}
	if want := maxStackBytes / (8*frames + stackBytes); whole < want || whole > want+1 || cut == 0 {
		t.Errorf("%d whole, %d cut, want %d", whole, cut, want)
	}
	for i := range maxStackBytes / stackBytes {
		if s, _ := table.half(table.intern(stack(1<<20+i, 3))); s.Len() == 1 && s.At(0) == NoRoom {
			none++
		}
	}
	if most := 2*maxStackBytes + 8*frames + stackBytes; none == 0 || table.size > most {
		t.Errorf("%d have no frame, with %d bytes", none, table.size)
	}
	if s, _ := table.half(table.intern(stack(7, frames))); s.Len() != frames {
		t.Errorf("one that is known has %d frames", s.Len())
	}
}
