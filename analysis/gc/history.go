package gc

import (
	"encoding/binary"
	"math/bits"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// generations counts those of a heap: 0, 1, 2, large and pinned objects.
const generations = 5

// pinnedHeap is the last of them.
const pinnedHeap = generations - 1

// A Heap describes one heap at a collection. All sizes are bytes.
type Heap struct {
	Index uint32 `json:"index"`
	// Layout is the version of the record that it is from: 0 (.NET Framework 4.0),
	// 2 (4.5) or 3 (since 4.6, and .NET Core).
	Layout          int                  `json:"layout"`
	CondemnReasons0 uint32               `json:"condemnReasons0"`
	CondemnReasons1 uint32               `json:"condemnReasons1"`
	Compacted       bool                 `json:"compacted"`
	CompactReason   string               `json:"compactReason,omitempty"`
	Expanded        bool                 `json:"expanded"`
	ExpandReason    string               `json:"expandReason,omitempty"`
	Generations     [generations]HeapGen `json:"generations"`
	// Known is the number of generations that the record has: 4 before there was
	// a heap for pinned objects, else 5.
	Known int `json:"known"`

	// The rest is 0 before layout 3.

	FreeListAllocated         uint64 `json:"freeListAllocated,omitempty"`
	FreeListRejected          uint64 `json:"freeListRejected,omitempty"`
	EndOfSegAllocated         uint64 `json:"endOfSegAllocated,omitempty"`
	CondemnedAllocated        uint64 `json:"condemnedAllocated,omitempty"`
	PinnedAllocated           uint64 `json:"pinnedAllocated,omitempty"`
	PinnedAllocatedAdvance    uint64 `json:"pinnedAllocatedAdvance,omitempty"`
	RunningFreeListEfficiency uint32 `json:"runningFreeListEfficiency,omitempty"`
	ExtraGen0Commit           uint64 `json:"extraGen0Commit,omitempty"`
}

// A HeapGen is one generation of one heap. Sizes are bytes and include free space.
type HeapGen struct {
	SizeBefore     uint64 `json:"sizeBefore"`
	FreeListBefore uint64 `json:"freeListBefore"`
	FreeObjBefore  uint64 `json:"freeObjBefore"`
	SizeAfter      uint64 `json:"sizeAfter"`
	FreeListAfter  uint64 `json:"freeListAfter"`
	FreeObjAfter   uint64 `json:"freeObjAfter"`
	In             uint64 `json:"in"`        // came in from a younger generation
	Out            uint64 `json:"out"`       // survived
	PinnedOut      uint64 `json:"pinnedOut"` // of these, in place because pinned
	Budget         uint64 `json:"budget"`    // to allocate until the next collection
	Updated        bool   `json:"updated"`   // the sizes after are those after the collection
	hasBefore      bool   // the free space before is known
}

// objectsBefore is the size of the objects before the collection.
func (g *HeapGen) objectsBefore() uint64 {
	return sub(g.SizeBefore, measure.Plus(g.FreeListBefore, g.FreeObjBefore))
}

// objectsAfter is the size of the objects after the collection. One that did not
// update the generation left it as it was.
func (g *HeapGen) objectsAfter() uint64 {
	if !g.Updated {
		return g.objectsBefore()
	}
	return sub(g.SizeAfter, measure.Plus(g.FreeListAfter, g.FreeObjAfter))
}

// fragmentation is the free space after the collection.
func (g *HeapGen) fragmentation() uint64 {
	if !g.Updated {
		return measure.Plus(g.FreeListBefore, g.FreeObjBefore)
	}
	return measure.Plus(g.FreeListAfter, g.FreeObjAfter)
}

// sub returns a-b, or 0 where that is less.
func sub(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

// historyV3 sets h, which is zero, to the heap of a record of layout 3.
func historyV3(h *Heap, e *clr.GCPerHeapHistoryV3) {
	h.Index, h.Layout, h.Known = e.HeapIndex, 3, min(e.Values.Len(), generations)
	h.CondemnReasons0, h.CondemnReasons1 = e.CondemnReasons0, uint32(e.CondemnReasons1)
	h.FreeListAllocated, h.FreeListRejected = uint64(e.FreeListAllocated), uint64(e.FreeListRejected)
	h.EndOfSegAllocated, h.CondemnedAllocated = uint64(e.EndOfSegAllocated), uint64(e.CondemnedAllocated)
	h.PinnedAllocated, h.PinnedAllocatedAdvance = uint64(e.PinnedAllocated), uint64(e.PinnedAllocatedAdvance)
	h.RunningFreeListEfficiency, h.ExtraGen0Commit = e.RunningFreeListEfficiency, uint64(e.ExtraGen0Commit)
	h.setMechanisms(uint32(e.CompactMechanisms), uint32(e.ExpandMechanisms))
	for i := range h.Known {
		v, g := e.Values.At(i), &h.Generations[i]
		g.SizeBefore, g.FreeListBefore, g.FreeObjBefore = uint64(v.SizeBefore), uint64(v.FreeListBefore), uint64(v.FreeObjBefore)
		g.SizeAfter, g.FreeListAfter, g.FreeObjAfter = uint64(v.SizeAfter), uint64(v.FreeListAfter), uint64(v.FreeObjAfter)
		g.In, g.Out, g.PinnedOut = uint64(v.In), measure.Plus(uint64(v.PinnedSurv), uint64(v.NonePinnedSurv)), uint64(v.PinnedSurv)
		g.Budget, g.hasBefore = uint64(v.NewAllocation), true
	}
}

// The private records of .NET Framework up to 4.5 have a record of ten pointers
// for each of five generations, the last of which is of no use, and then words.
const (
	privateGens  = 5
	privateWords = 10
)

// historyPrivate returns the heap of a private record, and reports whether it is
// long enough to be one. The number of the runtime is its last byte.
func historyPrivate(p []byte, ptr etw.PtrSize, layout int) (h Heap, instance uint16, ok bool) {
	size := ptr.Bytes()
	words := privateGens * privateWords * size
	if len(p) < words+6*4+1 {
		return h, 0, false
	}
	h = Heap{Layout: layout, Known: 4}
	value := func(gen, i int) uint64 {
		at := p[(gen*privateWords+i)*size:]
		if size == 4 {
			return uint64(binary.LittleEndian.Uint32(at))
		}
		return binary.LittleEndian.Uint64(at)
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(p[words+4*i:]) }
	for i := range h.Known {
		g := &h.Generations[i]
		if layout == 0 {
			*g = HeapGen{SizeBefore: value(i, 0), SizeAfter: value(i, 1), FreeListAfter: value(i, 4),
				In: value(i, 5), Out: value(i, 6), Budget: value(i, 7)}
			continue
		}
		*g = HeapGen{SizeBefore: value(i, 0), FreeListBefore: value(i, 1), FreeObjBefore: value(i, 2),
			SizeAfter: value(i, 3), FreeListAfter: value(i, 4), FreeObjAfter: value(i, 5),
			In: value(i, 6), Out: value(i, 7), Budget: value(i, 8), hasBefore: true}
	}
	h.CondemnReasons0, h.CondemnReasons1 = word(0), word(1)
	if layout == 0 {
		h.CondemnReasons0, h.CondemnReasons1 = word(0)&0xffff, word(0)>>16
		return h, 0, true
	}
	h.setMechanisms(word(4), word(3))
	h.Index = word(5)
	if rest := p[words+6*4:]; len(rest) >= 9 {
		h.ExtraGen0Commit = binary.LittleEndian.Uint64(rest)
	}
	return h, uint16(p[len(p)-1]), true
}

// setMechanisms says whether the heap was compacted and expanded, and why.
func (h *Heap) setMechanisms(compact, expand uint32) {
	const done = 1 << 31
	h.Compacted, h.Expanded = compact&done != 0, expand&done != 0
	if h.Compacted && compact&^done != 0 {
		h.CompactReason = clr.GCCompactMechanisms(1 << bits.TrailingZeros32(compact)).String()
	}
	if h.Expanded && expand&^done != 0 {
		h.ExpandReason = clr.GCExpandMechanisms(1 << bits.TrailingZeros32(expand)).String()
	}
}

// setUpdated marks the generations whose sizes after the collection the record
// has. Runtimes before .NET 5 wrote them up to the generation above the condemned
// one.
func (h *Heap) setUpdated(condemned int) {
	for i := range h.Known {
		h.Generations[i].Updated = h.Known == generations || i <= condemned+1
	}
}
