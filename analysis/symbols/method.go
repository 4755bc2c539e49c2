package symbols

import (
	"math"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
	"github.com/etwgen/etwgen/generated/clr"
)

// The ends of lives that no event tells.
const (
	never  = math.MaxInt64
	always = math.MinInt64
)

// A method is a piece of code with one life: of a method compiled twice, or whose
// code is in two parts, there are several.
type method struct {
	start, id uint64
	// from and to bound its life, if they are known. seen is a time at which it was
	// there for certain.
	from, to, seen int64
	size, token    uint32
	flags          clr.MethodFlags
	rejit          uint32
	module         int32 // in the modules of its process
	space          text
	name           text
	signature      text
	origin         Origin
}

// An Origin says which event told of a method first.
type Origin uint8

// The origins.
const (
	Loaded   Origin = iota // when it was loaded
	Unloaded               // when it was unloaded
	AtStart                // in the rundown at the start of the session
	AtEnd                  // in the rundown at its end
	ByLookup               // when the runtime looked for its precompiled code
)

var originNames = [...]string{"load", "unload", "rundown at start", "rundown at end", "lookup of precompiled code"}

// String describes the method in a few words.
func (o Origin) String() string { return originNames[o] }

// A methodList has methods in chunks, so that growing copies none.
type methodList struct {
	chunks [][]method
	n      int
}

const methodsPerChunk = 4096

func (l *methodList) add(m method) int32 {
	if l.n%methodsPerChunk == 0 {
		size := methodsPerChunk
		if l.n == 0 {
			size = 64 // which grows; most processes of a machine have few or none
		}
		l.chunks = append(l.chunks, make([]method, 0, size))
	}
	c := &l.chunks[len(l.chunks)-1]
	*c = append(*c, m)
	l.n++
	return int32(l.n - 1)
}

func (l *methodList) at(i int32) *method {
	return &l.chunks[i/methodsPerChunk][i%methodsPerChunk]
}

// A codeIndex finds the last method with a start and an id.
type codeIndex struct {
	slots []codeSlot // hash table with open addressing
	used  int
}

// A codeSlot has a part of the hash beside the method, so that no other method is looked
// at than the one that is searched for.
type codeSlot struct {
	method int32 // plus 1, or 0 where there is none
	hash   uint32
}

// find returns the place of a method: of the one that is there, or of the next.
func (x *codeIndex) find(l *methodList, start, id uint64) *codeSlot {
	if 4*x.used >= 3*len(x.slots) {
		x.grow()
	}
	mask := uint32(len(x.slots) - 1)
	hash := uint32(seeded.Hash(start, id))
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.method == 0 {
			s.hash = hash
			return s
		}
		if s.hash != hash {
			continue
		}
		if m := l.at(s.method - 1); m.start == start && m.id == id {
			return s
		}
	}
}

func (x *codeIndex) grow() {
	old := x.slots
	x.slots = make([]codeSlot, max(64, 2*len(old)))
	mask := uint32(len(x.slots) - 1)
	for _, s := range old {
		if s.method == 0 {
			continue
		}
		i := s.hash & mask
		for x.slots[i].method != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = s
	}
}
