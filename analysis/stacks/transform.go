package stacks

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/order"
)

// derive returns a profile with the same samples and stacks.
func (p *Profile) derive() *Profile {
	q := &Profile{rows: p.rows, Kind: p.Kind, Types: p.Types, Frames: slices.Clip(p.Frames), Naming: p.Naming,
		tree: p.tree, into: p.into, tallied: new(tallied), shapes: p.shapes, picked: newRecent(maxPicked)}
	q.pieces = slices.Clip(p.pieces)
	q.tags, q.threads, q.labels = slices.Clip(p.tags), slices.Clip(p.threads), slices.Clip(p.labels)
	q.tagIDs, q.threadIDs, q.labelIDs = nil, nil, nil
	return q
}

// with returns a profile with the same samples in a tree with these frames: step has the new
// numbers of the stacks of p, which is less than 0 where the samples are left out.
func (p *Profile) with(t tree, frames []Frame, step []ID) *Profile {
	q := p.derive()
	t.close()
	q.tree, q.Frames, q.from, q.step, q.into, q.shapes = t, frames, p, step, step, newRecent(maxShapes)
	if p.into != nil {
		q.into = make([]ID, len(p.into))
		for i, id := range p.into {
			if q.into[i] = id; id >= 0 {
				q.into[i] = step[id]
			}
		}
	}
	return q
}

// some returns a profile with these samples of p, which have the same stacks.
func (p *Profile) some(pieces []piece) *Profile {
	q := p.derive()
	q.have(pieces)
	return q
}

// Only returns the samples that keep is true for.
func (p *Profile) Only(keep func(Sample) bool) *Profile {
	kept := make([][]uint64, len(p.pieces))
	sample := p.sampler(len(p.Types))
	for place, x := range p.each(p.into) {
		if keep(sample(x)) {
			keepPlace(kept, place)
		}
	}
	return p.some(piecesOf(p.pieces, kept))
}

// Below returns the samples in which a frame occurs that match is true for, with their
// stacks from there on: its callees. Of several such frames the outermost counts.
func (p *Profile) Below(match func(*Frame) bool) *Profile {
	var t tree
	hit := p.hits(match)
	into := make([]ID, p.tree.size())
	into[0] = leftOut
	for n := 1; n < len(p.tree.nodes); n++ {
		x := p.tree.nodes[n]
		if into[n] = into[x.parent]; into[n] != leftOut || hit[x.key] {
			into[n] = ID(t.child(int32(max(into[n], 0)), x.key))
		}
	}
	return p.with(t, p.Frames, into)
}

// CallersOf returns the samples in which a frame occurs that match is true for, with
// stacks that lead from there to those who called it: turned around. Of several such
// frames the outermost counts.
func (p *Profile) CallersOf(match func(*Frame) bool) *Profile {
	var t tree
	hit := p.hits(match)
	into := make([]ID, p.tree.size())
	into[0] = leftOut
	for n := 1; n < len(p.tree.nodes); n++ {
		x := p.tree.nodes[n]
		if into[n] = into[x.parent]; into[n] == leftOut && hit[x.key] {
			into[n] = ID(p.turned(&t, int32(n)))
		}
	}
	return p.with(t, p.Frames, into)
}

// Inverted returns the profile with its stacks turned around, so that its tree
// begins with the frames that samples were taken in.
func (p *Profile) Inverted() *Profile {
	var t tree
	into := make([]ID, p.tree.size())
	for _, id := range p.summed().order {
		into[id] = ID(p.turned(&t, int32(id)))
	}
	return p.with(t, p.Frames, into)
}

// turned adds a stack of p to t the other way round.
func (p *Profile) turned(t *tree, n int32) int32 {
	at := int32(0)
	for ; n != 0; n = p.tree.nodes[n].parent {
		at = t.child(at, p.tree.nodes[n].key)
	}
	return at
}

// WithoutInnermost returns the samples with stacks from which the innermost frames are taken
// that match is true for, so that their weight is their callers'. A stack of such frames
// alone stays as it is.
func (p *Profile) WithoutInnermost(match func(*Frame) bool) *Profile {
	hit := p.hits(match)
	into, rest := make([]ID, p.tree.size()), make([]ID, p.tree.size())
	for n := 1; n < len(p.tree.nodes); n++ {
		if rest[n] = ID(n); hit[p.tree.nodes[n].key] {
			rest[n] = rest[p.tree.nodes[n].parent]
		}
		if into[n] = rest[n]; rest[n] == 0 {
			into[n] = ID(n)
		}
	}
	return p.with(p.tree, p.Frames, into)
}

// WithoutLines returns the profile with one frame for each method, whatever line it is on,
// and the stack there is for each of those of p.
func (p *Profile) WithoutLines() (*Profile, []ID) {
	var t tree
	var list []Frame
	known := make(map[Frame]int32)
	frames := make([]int32, len(p.Frames))
	for i := range p.Frames {
		f := p.Frames[i]
		f.File, f.Line = "", 0
		if frames[i] = once(known, f.identity(), int32(len(list))); int(frames[i]) == len(list) {
			list = append(list, f)
		}
	}
	into := make([]ID, p.tree.size())
	for n := 1; n < len(p.tree.nodes); n++ {
		x := p.tree.nodes[n]
		into[n] = ID(t.child(int32(into[x.parent]), uint64(frames[x.key])))
	}
	return p.with(t, list, into), slices.Clone(into)
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
	q.tree, q.into, q.shapes = tree{}, nil, newRecent(maxShapes)
	frames := make(map[string]int32)
	type key struct {
		frame int32
		stack ID
	}
	into := make(map[key]ID)
	sample := p.sampler(len(p.Types))
	kept, lists := make([][]uint64, len(p.pieces)), make([][]ID, len(p.pieces))
	for place, x := range p.each(p.into) {
		text := name(sample(x))
		f := once(frames, text, int32(len(q.Frames)))
		if int(f) == len(q.Frames) {
			q.Frames = append(q.Frames, Frame{Name: text, Full: text, Pseudo: true, Kind: symbols.Unknown})
		}
		k := key{f, x.stack}
		n, ok := into[k]
		if !ok {
			at := q.tree.child(0, uint64(f))
			for _, frame := range slices.Backward(slices.Collect(p.Stack(x.stack))) {
				at = q.tree.child(at, uint64(frame))
			}
			n = ID(at)
			into[k] = n
		}
		keepPlace(kept, place)
		list := &lists[place/blockRows]
		if *list == nil {
			*list = make([]ID, blockRows)
		}
		(*list)[place%blockRows] = n
	}
	q.tree.close()
	pieces := piecesOf(p.pieces, kept)
	lists = order.Delete(lists, func(l []ID) bool { return l == nil })
	for i := range pieces {
		b := *pieces[i].block
		b.stack = lists[i][:len(b.stack)]
		pieces[i].block = &b
	}
	q.have(pieces)
	return q
}

// Diff returns a profile of which the first value of each sample is its weight in one
// profile, and the last its weight in another: their last values.
func Diff(before, after *Profile) *Profile {
	name := func(p *Profile) ValueType {
		if len(p.Types) == 0 {
			return ValueType{}
		}
		return p.Types[len(p.Types)-1]
	}
	b, a := name(before), name(after)
	b, a = cmp.Or(b, a), cmp.Or(a, b) // one may be empty
	d := &Profile{Kind: cmp.Or(after.Kind, before.Kind) + ", compared", Types: []ValueType{{b.Name + " before", b.Unit}, {a.Name + " after", a.Unit}}, tallied: new(tallied), shapes: newRecent(maxShapes), picked: newRecent(maxPicked)}
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
		for _, x := range p.each(p.into) {
			from := &p.tags[x.tag]
			t := p.threads[from.thread]
			y := row{at: x.at, stack: ID(into[x.stack]), tag: d.tag(tag{thread: d.thread(t.process, t.id), labels: labels[from.labels]})}
			y.values[i] = x.values[last]
			d.push(y)
		}
		d.rows.cut = d.rows.cut || p.rows.cut
		d.Naming.Frames += p.Naming.Frames
		d.Naming.Named += p.Naming.Named
		d.Naming.Guessed += p.Naming.Guessed
		d.Naming.Native += p.Naming.Native
	}
	d.tree.close()
	return d
}

// comparable is the common part of frames of two traces: the folders of modules and lines
// may differ.
func (f *Frame) comparable() Frame {
	return Frame{Name: f.Name, Full: f.Full, Kind: f.Kind, Pseudo: f.Pseudo, Waiting: f.Waiting}
}
