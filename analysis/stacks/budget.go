package stacks

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
	"github.com/etwgen/etwgen/internal/order"
)

// Samples of a trace of any size take so much memory, and not more: frames of stacks that
// are kept apart, samples that are kept one by one, and addresses without a name that are
// frames of their own.
const (
	maxNodes    = 1 << 21
	maxRows     = 10 << 20
	maxNameless = 1 << 17
)

// A Rest counts the samples for which there was no room. Sums are right all the same.
type Rest struct {
	// CutStacks counts samples whose stacks have their outermost frames alone.
	CutStacks int64
	// Summed counts samples that were added to another of the same stack, thread and labels,
	// which began up to Slot before.
	Summed int64
	Slot   time.Duration
	// Sampled counts samples that were added to another of the same thread, whatever its stack.
	Sampled int64
	// Addresses counts the frames of all samples that are addresses without a name, of those
	// that weigh little, and are one frame.
	Addresses int64
}

// Warnings names the differences from the trace.
func (r Rest) Warnings() (list []string) {
	if r.CutStacks > 0 {
		list = append(list, fmt.Sprintf("the trace has more stacks than there is room for: of %d samples the outermost frames alone are known, and %s stands for the others", r.CutStacks, cutName))
	}
	if r.Summed > 0 {
		list = append(list, fmt.Sprintf("the trace has more samples than there is room for: %d are summed up with others of the same stack within %v, so that their times are not exact", r.Summed, r.Slot))
	}
	if r.Sampled > 0 {
		list = append(list, fmt.Sprintf("the trace has more samples and stacks than there is room for: for %d samples others of the same thread stand, so that stacks weigh about what they did", r.Sampled))
	}
	if r.Addresses > 0 {
		list = append(list, fmt.Sprintf("the trace has more addresses without a name than there is room for: those of %d frames of stacks, which weigh little, are summed up as %s", r.Addresses, namelessName))
	}
	return list
}

// Rest returns the samples for which there was no room.
func (s *rows) Rest() Rest { return s.rest }

// AddRest adds the samples of r, for which whoever made s had no room.
func (s *rows) AddRest(r Rest) {
	s.rest.CutStacks += r.CutStacks
	s.rest.Summed += r.Summed
	s.rest.Slot = max(s.rest.Slot, r.Slot)
	s.rest.Sampled += r.Sampled
	s.rest.Addresses += r.Addresses
}

// cutKey stands for the inner frames of a stack, for which there was no room. No code is at
// such an address.
const cutKey = math.MaxUint64

// cutName is their frame.
const cutName = "[frames for which there is no room]"

// namelessName is the frame of addresses for which there was no room.
const namelessName = "[other addresses]"

// heaviest returns the n addresses in stacks that weigh most.
func (s *Samples) heaviest(n int) map[uint64]bool {
	type weighed struct {
		address uint64
		weight  float64 // roughly: a stack that has it twice counts twice
	}
	list, value := make([]weighed, s.tree.size()), max(len(s.Types)-1, 0)
	for _, x := range s.each(s.stacks()) {
		list[x.stack].weight += float64(x.values[value])
	}
	for i := len(list) - 1; i > 0; i-- { // callers have smaller numbers
		list[i].address = s.tree.nodes[i].key
		list[s.tree.nodes[i].parent].weight += list[i].weight
	}
	order.Sort(list, func(a, b weighed) int { return cmp.Compare(a.address, b.address) })
	sums := list[:0]
	for _, x := range list {
		if last := len(sums) - 1; last >= 0 && sums[last].address == x.address {
			sums[last].weight += x.weight
			continue
		}
		sums = append(sums, x)
	}
	order.Sort(sums, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.address, b.address))
	})
	heavy := make(map[uint64]bool)
	for _, x := range sums[:min(n, len(sums))] {
		heavy[x.address] = true
	}
	return heavy
}

// within returns the stack of a frame that parent calls. Once there are many stacks, it
// returns one that stands for all new ones of parent, and false.
func (s *Samples) within(parent int32, key uint64) (int32, bool) {
	if s.tree.size() < s.nodes {
		return s.tree.child(parent, key), true
	}
	if n := s.tree.find(parent, key); n != 0 {
		return n, true
	}
	s.rest.CutStacks++
	return s.tree.child(parent, cutKey), false
}

// openRows is a power of two.
const openRows = 1 << 18

// add adds a sample, to another of its kind if there are too many.
func (s *Samples) add(at int64, e end, t tag, values []int64) {
	x := row{at: at, tag: s.tag(t)}
	copy(x.values[:], values)
	e.outside = t.labels == s.outside && t.labels != 0
	if s.count >= s.limit {
		s.sum()
	}
	s.take(&x)
	if s.open == nil {
		s.last, x.stack = s.count, s.end(e)
		s.append(&x)
		return
	}
	s.last = s.join(&s.store, &x, e)
}

// join adds a sample with an end to one of its kind that is at most a slot before it, if there is
// one in list, or else to list. It returns the place.
func (s *Samples) join(list *store, x *row, e end) int {
	t := &s.tags[x.tag]
	open := &s.open[seeded.Hash(uint64(e.stack)<<32|uint64(t.labels), uint64(t.thread)<<16|uint64(e.pseudo))%openRows]
	if at := int(*open); at < list.count {
		b, i := list.pieces[at/blockRows].block, at%blockRows
		before := &s.ends[b.stack[i]]
		if before.stack == e.stack && before.other == e.other && before.pseudo == e.pseudo && b.tag[i] == x.tag && uint64(x.at)-uint64(b.at.get(i)) < uint64(s.rest.Slot) {
			list.add(at, &x.values) // their sum fits: see take
			s.rest.Summed++
			return at
		}
	}
	*open, x.stack = int32(list.count), s.end(e)
	list.append(x)
	return list.count - 1
}

// sum makes one of samples that differ in time alone, and in that little: in as many
// milliseconds as it takes to make half of them. Where even that is not enough, as many
// more are kept.
func (s *Samples) sum() {
	for s.rest.Slot = max(2*s.rest.Slot, time.Millisecond); ; s.rest.Slot *= 4 {
		s.open = make([]int32, openRows)
		var kept store
		for _, x := range s.each(nil) {
			s.join(&kept, x, s.ends[x.stack])
		}
		s.store = kept
		if kept.count <= s.limit/2 {
			return
		}
		if s.rest.Slot > 1<<58 {
			s.limit = 2 * kept.count
			return
		}
	}
}
