package stacks

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// A Frame is a part of a stack with a name: a method, or what stands for one.
type Frame struct {
	// Name is for people. Full is the whole name with module and arguments, Address
	// that of code without a name.
	Name    string
	Full    string
	Module  string // path of the file that the code is from, or ""
	Kind    symbols.Kind
	Address uint64
	Tier    string // of code that was compiled at run time, where tiers are kept apart
	Line    int    // in File, where lines are known
	File    string
	// Guess says that the code was not there at the time: see [symbols.Location].
	Guess bool
	// Nameless says that of native code only the file is known, or where the function begins.
	Nameless bool
	// Pseudo says that it stands for no code, but for a group of frames or for a state, and
	// Waiting that the state is waiting.
	Pseudo, Waiting bool
}

// Names says which names frames have.
type Names uint8

// The forms of names.
const (
	FullNames      Names = iota // Shop!Bakery.Oven.Bake(int32)
	QualifiedNames              // Bakery.Oven.Bake
	ShortNames                  // Oven.Bake
)

// Options say how a profile is made.
type Options struct {
	Names Names
	// Raw leaves names that the compiler made as they are: see
	// [symbols.Method.Demangled].
	Raw bool
	// Tiers keeps code of different tiers of compilation apart.
	Tiers bool
	// Source returns the file and the line of a location, if it is known. Frames of
	// different lines are kept apart.
	Source func(*symbols.Location) (file string, line int, ok bool)
	// AsSampled leaves stacks as they were sampled, whatever they are to be read as.
	AsSampled bool
	// Native returns what is known of native code at an address of a process, at a time.
	// It is asked where there is no managed code.
	Native func(process int64, address uint64, at time.Time) (symbols.Native, bool)
}

// A Profile is samples with named frames.
type Profile struct {
	rows
	Kind   string
	Types  []ValueType
	Frames []Frame
	// Naming counts how many frames of all stacks have names.
	Naming Naming

	tree    tree
	pseudos map[string]int32 // where frames that stand for no code were found last
}

// Naming counts the frames of stacks.
type Naming struct {
	Frames  int64 // of all samples
	Named   int64
	Guessed int64 // of Named
	// Native are those in files with native code of which the functions have no names.
	Native int64
}

// Percent returns the share of frames that have names, 100 if there are no frames.
func (n Naming) Percent() float64 {
	if n.Frames == 0 {
		return 100
	}
	return 100 * float64(n.Named) / float64(n.Frames)
}

// NewProfile names the frames of samples. Several Samples, which must be of the same
// types, become one profile. A nil table leaves addresses.
func NewProfile(table *symbols.Table, o Options, samples ...*Samples) *Profile {
	p := &Profile{}
	frames, nameless := make(map[frameKey]int32), make(map[uint64]int32)
	for _, s := range samples {
		p.Kind, p.Types = s.Kind, s.Types
		n := &namer{p: p, s: s, table: table, options: o, frames: frames, nameless: nameless, heavy: s.heaviest(s.nameless),
			callers: make([]named, s.tree.size()), leaves: make([]named, s.tree.size()),
			spans: make([]span, 1), spanIDs: make(map[span]int32)}
		if s.reading != nil && !o.AsSampled {
			n.reading, n.readStacks = s.reading(), make(map[readStack]int32)
		}
		n.all()
	}
	p.mergeEqual()
	if slices.ContainsFunc(samples, func(s *Samples) bool { return s.reading != nil }) {
		p.prune()
	}
	p.count()
	return p
}

// pseudo returns the frame with a name that stands for no code.
func (p *Profile) pseudo(name string) int32 {
	is := func(f Frame) bool { return f.Pseudo && f.Name == name }
	if i, ok := p.pseudos[name]; ok && int(i) < len(p.Frames) && is(p.Frames[i]) {
		return i
	}
	i := slices.IndexFunc(p.Frames, is)
	if i < 0 {
		i = len(p.Frames)
		p.Frames = append(p.Frames, Frame{Name: name, Full: name, Pseudo: true})
	}
	if p.pseudos == nil {
		p.pseudos = make(map[string]int32)
	}
	p.pseudos[name] = int32(i)
	return int32(i)
}

// identity is what frames have in common that are shown as one.
func (f *Frame) identity() Frame {
	g := *f
	g.Address = 0
	if f.Kind == symbols.Unknown {
		g.Address = f.Address
	}
	return g
}

// isNameless reports whether a frame is an address of which nothing is known.
func (f *Frame) isNameless() bool {
	return f.Kind == symbols.Unknown && !f.Pseudo && *f == Frame{Name: f.Name, Full: f.Name, Address: f.Address}
}

// once returns what a map has for a key, or next, which it has then.
func once[K comparable](m map[K]int32, key K, next int32) int32 {
	i, ok := m[key]
	if !ok {
		i, m[key] = next, next
	}
	return i
}

// mergeEqual makes one frame of those of one method that was compiled several times.
func (p *Profile) mergeEqual() {
	first, nameless := make(map[Frame]int32), make(map[uint64]int32)
	into := make([]int32, len(p.Frames))
	kept := p.Frames[:0:0]
	for i := range p.Frames {
		next := int32(len(kept))
		if f := &p.Frames[i]; f.isNameless() {
			into[i] = once(nameless, f.Address, next)
		} else {
			into[i] = once(first, f.identity(), next)
		}
		if into[i] == next {
			kept = append(kept, p.Frames[i])
		}
	}
	if len(kept) == len(p.Frames) {
		return
	}
	p.Frames = kept
	p.rebuild(func(parent int32, frame int32) int32 { return p.tree.child(parent, uint64(into[frame])) })
}

// rebuild makes all stacks anew: add returns the stack of a frame of the old ones
// that is called by a new stack.
func (p *Profile) rebuild(add func(parent, frame int32) int32) {
	old := p.tree
	p.tree = tree{}
	into := make([]int32, old.size())
	for n := 1; n < len(old.nodes); n++ {
		into[n] = add(into[old.nodes[n].parent], int32(old.nodes[n].key))
	}
	for i := range p.rows.rows {
		p.rows.rows[i].stack = ID(into[p.rows.rows[i].stack])
	}
}

// count counts the frames with names.
func (p *Profile) count() {
	within := make([]int32, p.tree.size()) // samples that a stack is part of
	for i := range p.rows.rows {
		within[p.rows.rows[i].stack]++
	}
	for n := len(p.tree.nodes) - 1; n > 0; n-- { // callers have smaller numbers
		x := p.tree.nodes[n]
		within[x.parent] += within[n]
		f, samples := &p.Frames[x.key], int64(within[n])
		if !f.Pseudo {
			p.Naming.Frames += samples
		}
		switch {
		case f.IsNamed():
			p.Naming.Named += samples
			if f.Guess {
				p.Naming.Guessed += samples
			}
		case f.Kind == symbols.NativeCode:
			p.Naming.Native += samples
		}
	}
}

// IsNamed reports whether the trace, or a file of symbols, has the name of the code.
func (f *Frame) IsNamed() bool {
	return f.Kind == symbols.Managed && f.Address == 0 || f.Kind == symbols.NativeCode && !f.Nameless
}

// Len returns the number of samples.
func (p *Profile) Len() int { return len(p.rows.rows) }

// Samples iterates over the samples in the order in which they were added.
func (p *Profile) Samples() iter.Seq[Sample] { return p.rows.all(len(p.Types)) }

// Times returns the times of the first and the last sample in nanoseconds since 1970, 0
// if there are none.
func (p *Profile) Times() (first, last int64) {
	for i := range p.rows.rows {
		at := p.rows.rows[i].at
		if i == 0 || at < first {
			first = at
		}
		if i == 0 || at > last {
			last = at
		}
	}
	return first, last
}

// Stack iterates over the frames of a stack, the innermost first, by their numbers.
func (p *Profile) Stack(id ID) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := int32(id); n != 0; n = p.tree.nodes[n].parent {
			if !yield(int(p.tree.nodes[n].key)) {
				return
			}
		}
	}
}

// Stacks returns the number of different stacks and of the parts that they have in
// common: all IDs are less.
func (p *Profile) Stacks() int { return p.tree.size() }

// Split returns the innermost frame of a stack, and the stack that called it. The
// stack must not be 0. Callers have smaller numbers than those they call.
func (p *Profile) Split(id ID) (caller ID, frame int) {
	n := p.tree.nodes[id]
	return ID(n.parent), int(n.key)
}

// Totals returns the sums of all samples.
func (p *Profile) Totals() []int64 {
	sums := make([]int64, len(p.Types))
	for i := range p.rows.rows {
		for v := range sums {
			sums[v] += p.rows.rows[i].values[v]
		}
	}
	return sums
}

// Merged iterates over the sums of samples of one thread that have the same stack and
// the same labels. Their time is that of the first. The values of a sample are valid until
// the next one.
func (p *Profile) Merged() iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		order := p.rows.byKind()
		lists := make([][]Label, len(p.rows.labels)+1)
		sum := new(row)
		for i := 0; i < len(order); {
			k := order[i]
			*sum = p.rows.rows[k.row]
			for i++; i < len(order) && order[i].stack == k.stack && order[i].rest == k.rest; i++ {
				for v, x := range p.rows.rows[order[i].row].values {
					sum.values[v] += x
				}
			}
			if !yield(p.rows.sampleOf(sum, len(p.Types), lists)) {
				return
			}
		}
	}
}

// A rowKind is what tells a sample apart from others beside its time: its stack, and its
// thread and labels.
type rowKind struct {
	stack ID
	row   int32
	rest  uint64
}

// byKind returns the samples, equal ones next to each other in the order of their rows.
func (s *rows) byKind() []rowKind {
	list := make([]rowKind, len(s.rows))
	for i := range list {
		x := &s.rows[i]
		list[i] = rowKind{x.stack, int32(i), uint64(x.thread)<<32 | uint64(uint32(x.labels))}
	}
	slices.SortFunc(list, func(a, b rowKind) int {
		switch {
		case a.stack != b.stack:
			return cmp.Compare(a.stack, b.stack)
		case a.rest != b.rest:
			return cmp.Compare(a.rest, b.rest)
		}
		return cmp.Compare(a.row, b.row)
	})
	return list
}
