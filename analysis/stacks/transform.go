package stacks

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// derive returns a profile with the same samples, whose stacks are to be set.
func (p *Profile) derive() *Profile {
	q := *p
	q.Frames = slices.Clip(p.Frames)
	q.rows.rows = slices.Clone(p.rows.rows)
	q.rows.labels, q.rows.threads = slices.Clip(p.rows.labels), slices.Clip(p.rows.threads)
	q.rows.labelIDs, q.rows.threadIDs, q.pseudos = nil, nil, nil
	return &q
}

// keep leaves out the samples that keep is false for.
func (p *Profile) keep(keep func(*row) bool) {
	kept := p.rows.rows[:0]
	for i := range p.rows.rows {
		if keep(&p.rows.rows[i]) {
			kept = append(kept, p.rows.rows[i])
		}
	}
	p.rows.rows = kept
}

// Only returns the samples that keep is true for.
func (p *Profile) Only(keep func(Sample) bool) *Profile {
	q := p.derive()
	q.keep(func(x *row) bool { return keep(q.rows.sample(x, len(q.Types))) })
	return q
}

// Below returns the samples in which a frame occurs that match is true for, with
// their stacks from there on: what it called. Of several such frames the outermost
// counts.
func (p *Profile) Below(match func(*Frame) bool) *Profile {
	q := p.derive()
	hit := p.hits(match)
	inside := make([]bool, p.tree.size())
	into := make([]int32, p.tree.size())
	q.tree = tree{}
	for n := 1; n < len(p.tree.nodes); n++ {
		x := p.tree.nodes[n]
		if inside[n] = inside[x.parent] || hit[x.key]; inside[n] {
			into[n] = q.tree.child(into[x.parent], x.key)
		}
	}
	q.keep(func(x *row) bool {
		ok := inside[x.stack]
		x.stack = ID(into[x.stack])
		return ok
	})
	return q
}

// CallersOf returns the samples in which a frame occurs that match is true for, with
// stacks that lead from there to those who called it: turned around. Of several such
// frames the outermost counts.
func (p *Profile) CallersOf(match func(*Frame) bool) *Profile {
	q := p.derive()
	hit := p.hits(match)
	into := make([]int32, p.tree.size()) // the stack below, if there is a hit
	q.tree = tree{}
	for n := 1; n < len(p.tree.nodes); n++ {
		x := p.tree.nodes[n]
		switch {
		case into[x.parent] != 0:
			into[n] = into[x.parent]
		case hit[x.key]:
			into[n] = p.turned(&q.tree, int32(n))
		}
	}
	q.keep(func(x *row) bool {
		x.stack = ID(into[x.stack])
		return x.stack != 0
	})
	return q
}

// Inverted returns the profile with its stacks turned around, so that its tree
// begins with the frames that samples were taken in.
func (p *Profile) Inverted() *Profile {
	q := p.derive()
	into := make(map[ID]int32)
	q.tree = tree{}
	for i := range q.rows.rows {
		x := &q.rows.rows[i]
		n, ok := into[x.stack]
		if !ok {
			n = p.turned(&q.tree, int32(x.stack))
			into[x.stack] = n
		}
		x.stack = ID(n)
	}
	return q
}

// turned adds a stack of p to t the other way round.
func (p *Profile) turned(t *tree, n int32) int32 {
	at := int32(0)
	for ; n != 0; n = p.tree.nodes[n].parent {
		at = t.child(at, p.tree.nodes[n].key)
	}
	return at
}

// WithoutInnermost returns the samples with stacks from which the innermost frames
// are taken that match is true for, so that what they weigh is their callers'. A stack
// of such frames alone stays as it is.
func (p *Profile) WithoutInnermost(match func(*Frame) bool) *Profile {
	q := p.derive()
	hit := p.hits(match)
	for i := range q.rows.rows {
		n := int32(q.rows.rows[i].stack)
		for n != 0 && hit[p.tree.nodes[n].key] {
			n = p.tree.nodes[n].parent
		}
		if n != 0 {
			q.rows.rows[i].stack = ID(n)
		}
	}
	return q
}

// WithoutLines returns the profile with one frame for each method, whatever line it is on,
// and the stack there is for each of those of p.
func (p *Profile) WithoutLines() (*Profile, []ID) {
	q := p.derive()
	q.Frames, q.tree = nil, tree{}
	known := make(map[Frame]uint64)
	frames := make([]uint64, len(p.Frames))
	for i := range p.Frames {
		f := p.Frames[i]
		f.File, f.Line = "", 0
		id, ok := known[f.identity()]
		if !ok {
			id = uint64(len(q.Frames))
			known[f.identity()] = id
			q.Frames = append(q.Frames, f)
		}
		frames[i] = id
	}
	into := make([]ID, p.tree.size())
	for n := 1; n < len(p.tree.nodes); n++ {
		x := p.tree.nodes[n]
		into[n] = ID(q.tree.child(int32(into[x.parent]), frames[x.key]))
	}
	for i := range q.rows.rows {
		q.rows.rows[i].stack = into[q.rows.rows[i].stack]
	}
	return q, into
}

// hits returns which frames match is true for.
func (p *Profile) hits(match func(*Frame) bool) []bool {
	list := make([]bool, len(p.Frames))
	for i := range p.Frames {
		list[i] = match(&p.Frames[i])
	}
	return list
}

// By returns the profile with one more outermost frame, which name returns: such as
// that of the thread.
func (p *Profile) By(name func(Sample) string) *Profile {
	q := p.derive()
	frames := make(map[string]uint64)
	type key struct {
		frame uint64
		stack ID
	}
	into := make(map[key]ID)
	q.tree = tree{}
	for i := range q.rows.rows {
		x := &q.rows.rows[i]
		text := name(q.rows.sample(x, len(q.Types)))
		f, ok := frames[text]
		if !ok {
			f = uint64(len(q.Frames))
			q.Frames = append(q.Frames, Frame{Name: text, Full: text, Pseudo: true, Kind: symbols.Unknown})
			frames[text] = f
		}
		k := key{f, x.stack}
		n, ok := into[k]
		if !ok {
			at := q.tree.child(0, f)
			for _, frame := range slices.Backward(slices.Collect(p.Stack(x.stack))) {
				at = q.tree.child(at, uint64(frame))
			}
			n = ID(at)
			into[k] = n
		}
		x.stack = n
	}
	return q
}

// Diff returns a profile of which the first value of each sample is what it weighed
// in one profile, and the last what it weighs in another: their last values.
func Diff(before, after *Profile) *Profile {
	name := func(p *Profile) ValueType {
		if len(p.Types) == 0 {
			return ValueType{}
		}
		return p.Types[len(p.Types)-1]
	}
	b, a := name(before), name(after)
	b, a = cmp.Or(b, a), cmp.Or(a, b) // one may be empty
	d := &Profile{Kind: cmp.Or(after.Kind, before.Kind) + ", compared", Types: []ValueType{{b.Name + " before", b.Unit}, {a.Name + " after", a.Unit}}}
	frames := make(map[Frame]uint64)
	for i, p := range []*Profile{before, after} {
		into := make([]int32, p.tree.size())
		for n := 1; n < len(p.tree.nodes); n++ {
			x := p.tree.nodes[n]
			id := p.Frames[x.key].comparable()
			f, ok := frames[id]
			if !ok {
				f = uint64(len(d.Frames))
				d.Frames = append(d.Frames, p.Frames[x.key])
				frames[id] = f
			}
			into[n] = d.tree.child(into[x.parent], f)
		}
		labels := make([]LabelSet, len(p.rows.labels)+1)
		for l, x := range p.rows.labels {
			labels[l+1] = d.Label(labels[x.before], x.Key, x.Value)
		}
		last := len(p.Types) - 1
		for _, x := range p.rows.rows {
			t := p.rows.threads[x.thread]
			y := row{at: x.at, stack: ID(into[x.stack]), thread: d.thread(t.process, t.id), labels: labels[x.labels]}
			y.values[i] = x.values[last]
			d.rows.push(y)
		}
		d.rows.cut = d.rows.cut || p.rows.cut
		d.Naming.Frames += p.Naming.Frames
		d.Naming.Named += p.Naming.Named
		d.Naming.Guessed += p.Naming.Guessed
		d.Naming.Native += p.Naming.Native
	}
	return d
}

// comparable is what frames of two traces have in common: the folders of modules and
// lines may differ.
func (f *Frame) comparable() Frame {
	return Frame{Name: f.Name, Full: f.Full, Kind: f.Kind, Pseudo: f.Pseudo, Waiting: f.Waiting}
}
