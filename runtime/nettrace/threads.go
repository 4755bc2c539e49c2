package nettrace

import (
	"math"

	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A Thread is a row of the thread table of version 6.
type Thread struct {
	Index     uint64 // by which the stream refers to it
	Name      string
	ProcessID int64 // -1 is unknown
	ThreadID  int64 // of the operating system; -1 is unknown
	Keys      []KeyValue
}

// A KeyValue is a pair of texts that the writer of a stream attached to
// something.
type KeyValue struct {
	Key, Value string
}

// threads is the thread table of version 6.
type threads struct {
	at      table[*Thread]
	pid     int64           // of threads that do not say
	removed map[uint64]bool // indexes to drop, of rows alone
	items   int             // rows and keys
}

// maxItems bounds the rows of a table and of their parts, which take many times their bytes
// in the stream. A sequence point may start a table anew.
const maxItems = 1 << 16

// add reads a thread block: rows of a u16 size, an index and items up to the end
// of the row.
func (t *threads) add(b []byte) error {
	c := layout.Cursor{B: b}
	for c.Left() > 0 {
		r := c.Sub(int(c.U16()))
		th := &Thread{Index: r.Uvar(64), ProcessID: t.pid, ThreadID: -1}
	items:
		for r.Left() > 0 && !r.Bad {
			switch r.U8() {
			case layout.ThreadName:
				th.Name = r.Vstr()
			case layout.ThreadProcess:
				th.ProcessID = knownID(r.Uvar(64))
			case layout.ThreadID:
				th.ThreadID = knownID(r.Uvar(64))
			case layout.ThreadKeyValue:
				if len(th.Keys) == maxKeys {
					break items
				}
				th.Keys = append(th.Keys, KeyValue{r.Vstr(), r.Vstr()})
			default:
				break items // an unknown item has no length
			}
		}
		if c.Bad || r.Bad {
			return layout.Damaged("a thread does not fit")
		}
		if old := t.get(th.Index); old != nil {
			t.items -= 1 + len(old.Keys)
		}
		if t.items += 1 + len(th.Keys); t.items > maxItems {
			return layout.Damaged("there are more threads than the reader keeps")
		}
		t.at.put(th.Index, th)
	}
	return nil
}

// knownID returns the id of a process or thread, or -1 for the value of recorders that do
// not know it: -1 in 32 or in 64 bits.
func knownID(id uint64) int64 {
	if id == math.MaxUint32 {
		return -1
	}
	return int64(id)
}

// get returns a thread that was declared and not removed, or nil.
func (t *threads) get(index uint64) *Thread {
	th, _ := t.at.get(index)
	return th
}

// remove marks a thread. It goes with dropRemoved, once no event that is held
// back can refer to it.
func (t *threads) remove(index uint64) {
	if t.get(index) == nil {
		return
	}
	if t.removed == nil {
		t.removed = make(map[uint64]bool)
	}
	t.removed[index] = true
}

func (t *threads) reset() {
	t.at.reset()
	t.items = 0
}

func (t *threads) dropRemoved() {
	for index := range t.removed {
		if th := t.get(index); th != nil {
			t.at.remove(index)
			t.items -= 1 + len(th.Keys)
		}
	}
	clear(t.removed)
}
