package mutate

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// A Mutant is a damaged trace.
type Mutant struct {
	Data []byte
	// Touched are the ranges of the original that are not as they were. For bytes
	// that were inserted it is where, if that is inside of a part.
	Touched []Span
}

// A Mutation is a way to damage a trace.
type Mutation struct {
	Name string
	// Announced says that the damage can be recognised from the structure of the
	// file, so that no loss of events may go unreported. A flip inside of a record
	// can make another record of it that is as good.
	Announced bool
	// Apply damages a copy of the trace that it builds in room.
	Apply func(r *rand.Rand, t *Trace, room []byte) Mutant
}

// Names of mutations that a sweep tries at each place. Truncation only takes away.
const (
	Truncation = "truncation"
	OneFlip    = "1 flip in a header"
	Extreme    = "extreme number in a header"
)

// Mutations are all ways to damage a trace.
var Mutations = []Mutation{
	{Truncation, true, truncate},
	{"1 flip in a body", false, flips(1, (*Trace).Bodies)},
	{"8 flips in bodies", false, flips(8, (*Trace).Bodies)},
	{"64 flips in bodies", false, flips(64, (*Trace).Bodies)},
	{"1,000 flips in bodies", false, flips(1000, (*Trace).Bodies)},
	{OneFlip, true, flips(1, (*Trace).Headers)},
	{"8 flips in headers", true, flips(8, (*Trace).Headers)},
	{"1 flip in the file's header", false, flips(1, (*Trace).ownHeader)},
	{"zeroed region", false, overwrite(func(*rand.Rand) byte { return 0 })},
	{"garbage region", false, overwrite(func(r *rand.Rand) byte { return byte(r.Uint32()) })},
	{"swapped regions", false, swap},
	{"bytes inserted", false, insert},
	{"bytes deleted", false, remove},
	{Extreme, true, extreme((*Trace).Headers)},
	{"extreme number in a body", false, extreme((*Trace).Bodies)},
}

// Flip flips one bit.
func (t *Trace) Flip(bit int, room []byte) Mutant {
	data := append(room[:0], t.Data...)
	data[bit/8] ^= 1 << (bit % 8)
	return Mutant{data, []Span{{bit / 8, bit/8 + 1}}}
}

// Cut cuts the trace after n bytes.
func (t *Trace) Cut(n int, room []byte) Mutant {
	return Mutant{append(room[:0], t.Data[:n]...), []Span{{n, len(t.Data)}}}
}

func truncate(r *rand.Rand, t *Trace, room []byte) Mutant {
	return t.Cut(r.IntN(len(t.Data)), room)
}

// ownHeader is the header of the file, or for an .etl file the first buffer.
func (t *Trace) ownHeader() []Span {
	if t.Head == 0 {
		return []Span{{t.Parts[0].Start, t.Parts[0].End}}
	}
	return []Span{{0, t.Head}}
}

// pick returns the position of one of the bytes in spans.
func pick(r *rand.Rand, spans []Span) int {
	total := 0
	for _, s := range spans {
		total += s.End - s.Start
	}
	n := r.IntN(max(total, 1))
	for _, s := range spans {
		if n < s.End-s.Start {
			return s.Start + n
		}
		n -= s.End - s.Start
	}
	return 0
}

func flips(n int, in func(*Trace) []Span) func(*rand.Rand, *Trace, []byte) Mutant {
	return func(r *rand.Rand, t *Trace, room []byte) Mutant {
		m := Mutant{Data: append(room[:0], t.Data...)}
		spans := in(t)
		for range n {
			at := pick(r, spans)
			m.Data[at] ^= 1 << r.IntN(8)
			m.Touched = append(m.Touched, Span{at, at + 1})
		}
		return m
	}
}

// region returns a random range of up to 4 KiB, or an eighth of the trace, behind
// the file's own header.
func region(r *rand.Rand, t *Trace) Span {
	size := 1 + r.IntN(max(1, min(4096, len(t.Data)/8)))
	return somewhere(r, t, size)
}

// somewhere returns a range of a size, behind the file's own header: without that the rest
// cannot be recognized.
func somewhere(r *rand.Rand, t *Trace, size int) Span {
	size = min(size, (len(t.Data)-t.Head)/2)
	at := t.Head + r.IntN(len(t.Data)-t.Head-size)
	return Span{at, at + size}
}

func overwrite(with func(*rand.Rand) byte) func(*rand.Rand, *Trace, []byte) Mutant {
	return func(r *rand.Rand, t *Trace, room []byte) Mutant {
		s := region(r, t)
		data := append(room[:0], t.Data...)
		for i := s.Start; i < s.End; i++ {
			data[i] = with(r)
		}
		return Mutant{data, []Span{s}}
	}
}

func swap(r *rand.Rand, t *Trace, room []byte) Mutant {
	a := region(r, t)
	b := somewhere(r, t, a.End-a.Start)
	data := append(room[:0], t.Data...)
	copy(data[a.Start:], t.Data[b.Start:b.End])
	copy(data[b.Start:], t.Data[a.Start:a.End]) // what they share is that of the first
	return Mutant{data, []Span{a, b}}
}

// few is a number of bytes to insert or delete: often a power of two, to which
// the formats align.
func few(r *rand.Rand) int {
	if r.IntN(2) == 0 {
		return 1 << r.IntN(8)
	}
	return 1 + r.IntN(100)
}

func insert(r *rand.Rand, t *Trace, room []byte) Mutant {
	at := somewhere(r, t, 1).Start
	data := append(room[:0], t.Data[:at]...)
	for range few(r) {
		data = append(data, byte(r.Uint32()))
	}
	m := Mutant{Data: append(data, t.Data[at:]...)}
	for _, p := range t.Parts {
		if p.Start < at && at < p.End {
			m.Touched = []Span{{at, at + 1}}
		}
	}
	return m
}

func remove(r *rand.Rand, t *Trace, room []byte) Mutant {
	s := somewhere(r, t, few(r))
	data := append(room[:0], t.Data[:s.Start]...)
	return Mutant{append(data, t.Data[s.End:]...), []Span{s}}
}

// extremes are numbers that sizes, counts and offsets do not expect.
var extremes = []uint32{0, 1, 2, 7, 8, 0x47, 0x48, 0x49, 0xff, 0x100, 0xffff, 0x10000, 0xffffff, 0x1000000, 0x3ffffff, 0x4000000, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff}

// Extremes is how many there are.
var Extremes = len(extremes)

func extreme(in func(*Trace) []Span) func(*rand.Rand, *Trace, []byte) Mutant {
	return func(r *rand.Rand, t *Trace, room []byte) Mutant {
		at := pick(r, in(t))
		if r.IntN(4) > 0 {
			at &^= 3
		}
		return t.Extreme(at, r.IntN(len(extremes)), room)
	}
}

// Extreme puts the extreme number i at a place.
func (t *Trace) Extreme(at, i int, room []byte) Mutant {
	data := append(room[:0], t.Data...)
	at = min(at, len(data)-4)
	binary.LittleEndian.PutUint32(data[at:], extremes[i])
	return Mutant{data, []Span{{at, at + 4}}}
}

// Names returns the names of all mutations, in their order.
func Names() []string {
	var names []string
	for _, m := range Mutations {
		names = append(names, m.Name)
	}
	return slices.Clip(names)
}

// Named returns the mutation of a name, or nil.
func Named(name string) *Mutation {
	for i := range Mutations {
		if Mutations[i].Name == name {
			return &Mutations[i]
		}
	}
	return nil
}
