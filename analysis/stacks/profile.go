package stacks

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
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
	// Native returns the facts about native code at an address of a process, at a time. It
	// is asked where there is no managed code.
	Native func(process int64, address uint64, at time.Time) (symbols.Native, bool)
}

// A Profile is samples with named frames. It does not change: profiles that are made of others
// share their samples, and the answers about them. Nor may Frames and Types be changed. Several
// goroutines can use it at once.
type Profile struct {
	rows
	Kind   string
	Types  []ValueType
	Frames []Frame
	// Naming counts how many frames of all stacks have names.
	Naming Naming

	tree tree
	// into has the stacks of tree for the stacks of rows, less than 0 where their samples are
	// left out; nil if it is the same. A profile that is another with other stacks has these for
	// those of the other in step.
	into    []ID
	from    *Profile
	step    []ID
	tallied *tallied
	shapes  *recent          // what filters make of tree and Frames
	picked  *recent          // the samples of queries
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
	p := &Profile{tallied: new(tallied), shapes: newRecent(maxShapes), picked: newRecent(maxPicked)}
	frames := &frameSet{ids: make(map[frameKey]int32), addresses: make(map[uint64]int32)}
	for _, s := range samples {
		p.Kind, p.Types = s.Kind, s.Types
		n := newNamer(p, s, table, o, frames)
		var reading Reading
		if s.reading != nil {
			reading = s.reading()
		}
		if !o.AsSampled {
			n.reading = reading
		}
		n.all()
		n.doubt(reading)
	}
	p.mergeEqual()
	if slices.ContainsFunc(samples, func(s *Samples) bool { return s.reading != nil }) {
		p.prune()
	}
	p.tree.close()
	p.countNames()
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
		p.Frames = append(p.Frames, Frame{Name: name, Full: name, Pseudo: true, Waiting: name == WaitingName})
	}
	if p.pseudos == nil {
		p.pseudos = make(map[string]int32)
	}
	p.pseudos[name] = int32(i)
	return int32(i)
}

// once returns the value of a map for a key, or sets it to next.
func once[K comparable](m map[K]int32, key K, next int32) int32 {
	i, ok := m[key]
	if !ok {
		i, m[key] = next, next
	}
	return i
}

// mergeEqual makes one frame of those of one method that was compiled several times. Addresses
// without a name have one each.
func (p *Profile) mergeEqual() {
	first, next := make(map[Frame]int32), int32(0)
	into := make([]int32, len(p.Frames))
	for i := range p.Frames {
		if into[i] = next; !p.Frames[i].isNameless() {
			into[i] = once(first, p.Frames[i].identity(), next)
		}
		if into[i] == next {
			p.Frames[next] = p.Frames[i]
			next++
		}
	}
	if int(next) == len(p.Frames) {
		return
	}
	clear(p.Frames[next:])
	p.Frames = p.Frames[:next]
	old := p.tree
	p.tree = tree{}
	step := make([]ID, old.size())
	for n := 1; n < len(old.nodes); n++ {
		x := &old.nodes[n]
		step[n] = ID(p.tree.child(int32(step[x.parent]), uint64(into[x.key])))
	}
	p.become(step)
}

// become gives samples the stacks that step has for theirs.
func (p *Profile) become(step []ID) {
	for i, id := range p.into {
		if id >= 0 {
			p.into[i] = step[id]
		}
	}
}

// countNames counts the frames with names.
func (p *Profile) countNames() {
	within, of := p.within(), make([]int64, len(p.Frames))
	for n := len(p.tree.nodes) - 1; n > 0; n-- {
		of[p.tree.nodes[n].key] += within[n].rows
	}
	for i, samples := range of {
		f := &p.Frames[i]
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

// A tallied is the tally of a profile once somebody has asked for it.
type tallied struct {
	mu     sync.Mutex
	tally  *tally
	within []weight // inclusive
	tags   *tally   // of samples by the numbers of their tags

	parting   sync.Mutex
	stretches []stretch
}

// patience is after how many pieces a scan looks whether anybody waits for it still.
const patience = 64

// tally returns the tally of a profile: of samples that only have other stacks than in another
// profile, it is that of the other, and else a scan.
func (p *Profile) tally(ctx context.Context) (*tally, error) {
	if p.tallied == nil { // nobody has made it, and so it has no samples
		return &tally{of: make([]weight, p.tree.size())}, nil
	}
	p.tallied.mu.Lock()
	defer p.tallied.mu.Unlock()
	if t := p.tallied.tally; t != nil {
		return t, nil
	}
	var t *tally
	if p.from != nil {
		before, err := p.from.tally(ctx)
		if err != nil {
			return nil, err
		}
		t = before.through(p.step, p.tree.size())
	} else {
		var err error
		if t, err = p.scan(ctx); err != nil {
			return nil, err
		}
	}
	p.tallied.tally = t
	return t, nil
}

// within returns the inclusive weights of all stacks, which nobody may change.
func (p *Profile) within() []weight {
	t := p.summed()
	if p.tallied == nil {
		return t.totals(&p.tree)
	}
	p.tallied.mu.Lock()
	defer p.tallied.mu.Unlock()
	if p.tallied.within == nil {
		p.tallied.within = t.totals(&p.tree)
	}
	return p.tallied.within
}

// summed is tally for those who wait in any case.
func (p *Profile) summed() *tally {
	t, _ := p.tally(context.Background()) // a scan ends early only if its context does
	return t
}

// scan adds up all rows.
func (p *Profile) scan(ctx context.Context) (*tally, error) {
	t, d := &tally{of: make([]weight, p.tree.size())}, new(decoder)
	for k := range p.pieces {
		if k%patience == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.addPiece(&p.pieces[k], p.into, d)
	}
	t.finish()
	return t, nil
}

// Len returns the number of samples.
func (p *Profile) Len() int { return int(p.summed().all.rows) }

// Samples iterates over the samples in the order in which they were added.
func (p *Profile) Samples() iter.Seq[Sample] { return p.all(len(p.Types), p.into) }

// Times returns the times of the first and the last sample in nanoseconds since 1970, 0
// if there are none.
func (p *Profile) Times() (first, last int64) {
	met := false
	for _, x := range p.each(p.into) {
		if !met || x.at < first {
			first = x.at
		}
		if !met || x.at > last {
			last = x.at
		}
		met = true
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
	all := p.summed().all.values
	return slices.Clone(all[:len(p.Types)])
}

// Merged iterates over the sums of samples of one thread that have the same stack and
// the same labels. Their time is that of the first. The values of a sample are valid until
// the next one.
func (p *Profile) Merged() iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		order := p.byKind()
		sample := p.sampler(len(p.Types))
		for i := 0; i < len(order); {
			k := order[i]
			sum := p.row(k.place)
			sum.stack = k.stack
			for i++; i < len(order) && order[i].stack == k.stack && order[i].rest == k.rest; i++ {
				for v, x := range p.row(order[i].place).values {
					sum.values[v] += x
				}
			}
			if !yield(sample(&sum)) {
				return
			}
		}
	}
}

// A rowKind is all of a sample but its time and weight: its stack, and its thread and
// labels.
type rowKind struct {
	stack ID
	place int32
	rest  uint64
}

// byKind returns the samples, equal ones next to each other in the order of their rows.
func (p *Profile) byKind() []rowKind {
	list := make([]rowKind, 0, p.Len())
	for place, x := range p.each(p.into) {
		t := &p.tags[x.tag]
		list = append(list, rowKind{x.stack, int32(place), uint64(t.thread)<<32 | uint64(uint32(t.labels))})
	}
	slices.SortFunc(list, func(a, b rowKind) int {
		switch {
		case a.stack != b.stack:
			return cmp.Compare(a.stack, b.stack)
		case a.rest != b.rest:
			return cmp.Compare(a.rest, b.rest)
		}
		return cmp.Compare(a.place, b.place)
	})
	return list
}
