package stacks

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// Around has the neighbors of frames: their callers, and their callees.
type Around struct {
	// Self is what the frames weigh themselves, Total their weight with all that they call:
	// the sum of Callers, and that of Self and Callees.
	Self, Total []float64
	// Callers and Callees are by frame, those with the largest last value first.
	Callers, Callees []Share
}

// A Share is a frame's part of the weight of another.
type Share struct {
	Frame  int // -1 stands for nobody: the outermost frames have no caller
	Values []float64
}

// Around returns the neighbors of the frames that match is true for, as PerfView does: where a
// stack has k of them each has the part 1/k of its weight, so that callers and callees add up.
func (v *View) Around(match func(*Frame) bool) *Around {
	hit, nodes, types := v.p.hits(match), v.p.tree.nodes, len(v.p.Types)
	within, shares := v.p.shares(v.self, hit)
	a := &Around{Self: make([]float64, types), Total: make([]float64, types)}
	callers, callees := make(map[int][]float64), make(map[int][]float64)
	add := func(to map[int][]float64, frame int, x *share) {
		if *x == (share{}) {
			return
		}
		if to[frame] == nil {
			to[frame] = make([]float64, types)
		}
		x.addTo(to[frame])
	}
	for n := 1; n < len(nodes); n++ {
		if within[n] == 0 {
			continue
		}
		parent := nodes[n].parent
		if parent != 0 && hit[nodes[parent].key] {
			add(callees, int(nodes[n].key), &shares[n])
		}
		if !hit[nodes[n].key] {
			continue
		}
		shares[n].addTo(a.Total)
		caller := -1
		if parent != 0 {
			caller = int(nodes[parent].key)
		}
		add(callers, caller, &shares[n])
		own := shareOf(&v.self[n], within[n])
		own.addTo(a.Self)
	}
	a.Callers, a.Callees = sharesOf(callers), sharesOf(callees)
	return a
}

// A share is a part of a weight.
type share [maxValues]float64

func shareOf(w *weight, parts int32) (s share) {
	for v := range s {
		s[v] = float64(w.values[v]) / float64(parts)
	}
	return s
}

func (s *share) addTo(sum []float64) {
	for v := range sum {
		sum[v] += s[v]
	}
}

// shares returns how many frames of each stack are hit, and of the inclusive weight of a stack
// the part of one of these frames, where there are any.
func (p *Profile) shares(self []weight, hit []bool) (within []int32, list []share) {
	within, list = make([]int32, len(self)), make([]share, len(self))
	for n := 1; n < len(self); n++ {
		x := p.tree.nodes[n]
		if within[n] = within[x.parent]; hit[x.key] {
			within[n]++
		}
	}
	for n := len(self) - 1; n > 0; n-- { // callers have smaller numbers
		if within[n] == 0 {
			continue
		}
		own := shareOf(&self[n], within[n])
		own.addTo(list[n][:])
		list[n].addTo(list[p.tree.nodes[n].parent][:])
	}
	return within, list
}

func sharesOf(sums map[int][]float64) []Share {
	list := make([]Share, 0, len(sums))
	for frame, values := range sums {
		list = append(list, Share{frame, values})
	}
	order.Sort(list, func(a, b Share) int {
		last := len(a.Values) - 1
		return cmp.Or(cmp.Compare(b.Values[last], a.Values[last]), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}

// SplitCallers is [Profile.CallersOf] where a stack with several such frames has its weight
// shared among them, as in [View.Around]. There is one sample for each stack, with its
// exclusive weight, to the next whole number: the sum is right.
func (p *Profile) SplitCallers(match func(*Frame) bool) *Profile {
	hit := p.hits(match)
	within, list := p.shares(p.summed().of, hit)
	s := &splitting{p: p}
	var path []uint64
	for n := 1; n < len(within); n++ {
		if within[n] > 0 && hit[p.tree.nodes[n].key] && list[n] != (share{}) {
			path = path[:0]
			for at := int32(n); at != 0; at = p.tree.nodes[at].parent {
				path = append(path, p.tree.nodes[at].key)
			}
			s.add(slices.Values(path), &list[n])
		}
	}
	return s.profile()
}

// SplitBelow is [Profile.Below] as [Profile.SplitCallers] is CallersOf: such frames that others
// of them call begin stacks of their own, too.
func (p *Profile) SplitBelow(match func(*Frame) bool) *Profile {
	hit := p.hits(match)
	self := p.summed()
	within, _ := p.shares(self.of, hit)
	s := &splitting{p: p}
	var path []uint64 // the innermost first
	for n := 1; n < len(within); n++ {
		if self.of[n].rows == 0 || within[n] == 0 {
			continue
		}
		x := shareOf(&self.of[n], within[n])
		path = path[:0]
		for at := int32(n); at != 0; at = p.tree.nodes[at].parent {
			key := p.tree.nodes[at].key
			if path = append(path, key); hit[key] {
				s.add(func(yield func(uint64) bool) {
					for i := len(path) - 1; i >= 0 && yield(path[i]); i-- {
					}
				}, &x)
			}
		}
	}
	return s.profile()
}

// A splitting makes a profile of shares.
type splitting struct {
	p     *Profile
	tree  tree
	sums  []share // by node
	order []int32
}

// add adds a share to the stack of some frames, the outermost first. Once there are too many
// stacks, it is that of the outermost of them.
func (s *splitting) add(frames iter.Seq[uint64], x *share) {
	node := int32(0)
	for key := range frames {
		next := int32(0)
		if node == 0 || s.tree.size() < maxNodes {
			next = s.tree.child(node, key)
		} else if next = s.tree.find(node, key); next == 0 {
			break
		}
		node = next
	}
	for int(node) >= len(s.sums) {
		s.sums = append(s.sums, make([]share, s.tree.size()-len(s.sums))...)
	}
	if s.sums[node] == (share{}) {
		s.order = append(s.order, node)
	}
	x.addTo(s.sums[node][:])
}

// profile returns the profile. The amount rounded off a stack goes to the next.
func (s *splitting) profile() *Profile {
	q := s.p.derive()
	q.tree, q.into, q.shapes, q.Naming = s.tree, nil, newRecent(maxShapes), s.p.Naming
	q.tree.close()
	q.store, q.sums, q.tags, q.recentTags = store{}, [maxValues]int64{}, slices.Clone(s.p.tags), [512]int32{}
	first, _ := s.p.Times()
	tag := q.tag(tag{thread: q.thread(-1, -1)})
	var all share
	var had [maxValues]int64
	for _, node := range s.order {
		x := row{at: first, stack: ID(node), tag: tag}
		for v := range x.values {
			all[v] += s.sums[node][v]
			x.values[v] = int64(math.Round(min(all[v], 1<<63-1024))) - had[v]
			had[v] += x.values[v]
		}
		q.push(x)
	}
	return q
}
