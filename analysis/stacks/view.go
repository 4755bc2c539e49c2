package stacks

import (
	"cmp"

	"github.com/etwgen/etwgen/internal/order"
)

// A View is the call tree of a profile, with sums.
type View struct {
	p *Profile
	// self and total are the sums of each stack, and the same with all callees.
	self, total []weight
	*links
}

// Profile returns the frames and samples of the view.
func (v *View) Profile() *Profile { return v.p }

// View sums up the samples.
func (p *Profile) View() *View { return &View{p, p.summed().of, p.within(), p.tree.linked()} }

// Self returns the exclusive weight of a stack, Total the inclusive one. Those of stack 0
// are of all samples.
func (v *View) Self(id ID) []int64  { return own(&v.self[id], v.p) }
func (v *View) Total(id ID) []int64 { return own(&v.total[id], v.p) }

// own returns the values of a weight, such that whoever has them cannot append to them.
func own(w *weight, p *Profile) []int64 { return w.values[:len(p.Types):len(p.Types)] }

// Called returns the stacks that a stack called, the heaviest first, and threads that wait
// last.
func (v *View) Called(id ID) []ID {
	var list []ID
	value := len(v.p.Types) - 1
	for n := v.first[id]; n != 0; n = v.next[n] {
		if v.total[n].values != [maxValues]int64{} {
			list = append(list, ID(n))
		}
	}
	order.Sort(list, func(a, b ID) int {
		return cmp.Or(last(v.frame(a), v.frame(b)), cmp.Compare(v.total[b].values[value], v.total[a].values[value]), cmp.Compare(v.total[b].values[0], v.total[a].values[0]),
			cmp.Compare(v.frame(a).Full, v.frame(b).Full))
	})
	return list
}

func (v *View) frame(id ID) *Frame { return &v.p.Frames[v.p.tree.nodes[id].key] }

// A Top is the weight of a frame over all stacks.
type Top struct {
	Frame int
	// Self are the sums of the samples of which it is the innermost frame, Total
	// those in which it occurs, however often.
	Self, Total []int64
}

// Top returns the frames, those with the largest last value of their own first, and
// [WaitingName] last.
func (v *View) Top() []Top {
	self, total := make([]weight, len(v.p.Frames)), make([]weight, len(v.p.Frames))
	for n := 1; n < len(v.total); n++ {
		if v.total[n] == (weight{}) {
			continue
		}
		f := v.p.tree.nodes[n].key
		self[f].add(&v.self[n])
		if v.outer[n/64]>>(n%64)&1 != 0 {
			total[f].add(&v.total[n])
		}
	}
	var sums []Top
	for f := range total {
		if total[f].values != [maxValues]int64{} {
			sums = append(sums, Top{f, own(&self[f], v.p), own(&total[f], v.p)})
		}
	}
	value := len(v.p.Types) - 1
	order.Sort(sums, func(a, b Top) int {
		return cmp.Or(last(&v.p.Frames[a.Frame], &v.p.Frames[b.Frame]), cmp.Compare(b.Self[value], a.Self[value]), cmp.Compare(b.Total[value], a.Total[value]),
			cmp.Compare(b.Self[0], a.Self[0]), cmp.Compare(b.Total[0], a.Total[0]),
			cmp.Compare(v.p.Frames[a.Frame].Full, v.p.Frames[b.Frame].Full), cmp.Compare(a.Frame, b.Frame))
	})
	return sums
}

// A Path is a whole stack and the weight of its samples.
type Path struct {
	Stack  ID
	Values []int64
}

// Paths returns the stacks that have samples, the heaviest first, and threads that wait last.
func (v *View) Paths() []Path {
	var list []Path
	for id := range v.self {
		if v.self[id].values != [maxValues]int64{} {
			list = append(list, Path{ID(id), v.Self(ID(id))})
		}
	}
	value := len(v.p.Types) - 1
	order.Sort(list, func(a, b Path) int {
		return cmp.Or(last(v.frame(a.Stack), v.frame(b.Stack)), cmp.Compare(b.Values[value], a.Values[value]), cmp.Compare(b.Values[0], a.Values[0]), cmp.Compare(a.Stack, b.Stack))
	})
	return list
}
