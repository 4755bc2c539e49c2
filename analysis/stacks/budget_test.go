package stacks

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// addRandom adds the same samples to each of lists, of which some may share nothing with another.
func addRandom(n int, shared bool, lists ...*Samples) {
	r := rand.New(rand.NewPCG(7, 9))
	for i := range n {
		frames := make([]uint64, 1+r.IntN(6))
		for k := range frames {
			frames[k] = uint64(1 + r.IntN(3))
		}
		thread, value, pseudo := int64(r.IntN(3)), int64(r.IntN(1000)), r.IntN(5) == 0
		for _, s := range lists {
			labels := s.Label(0, "state", fmt.Sprint(value%2))
			stack, at := s.InternAddresses(5, frames), int64(i)*int64(time.Millisecond)/4
			if pseudo {
				other := stack
				if shared && value%3 == 0 {
					other = 0
				}
				s.AddShared(time.Unix(0, at), 5, thread, stack, other, "[pause]", labels, 1, value)
			} else {
				s.AddStack(time.Unix(0, at), 5, thread, stack, labels, 1, value)
			}
		}
	}
}

// weights returns the weights of a profile without names, by all but the time.
func weights(s *Samples) map[string][2]int64 {
	p := NewProfile(nil, Options{}, s)
	sums := make(map[string][2]int64)
	for x := range p.Samples() {
		var key strings.Builder
		fmt.Fprint(&key, x.Thread, x.Labels)
		for f := range p.Stack(x.Stack) {
			fmt.Fprint(&key, " ", p.Frames[f].Name)
		}
		w := sums[key.String()]
		sums[key.String()] = [2]int64{w[0] + x.Values[0], w[1] + x.Values[1]}
	}
	return sums
}

func twoSamples() (whole, small *Samples) {
	types := []ValueType{{"samples", "count"}, {"time", "nanoseconds"}}
	return NewSamples("x", types...), NewSamples("x", types...)
}

// TestTooManySamples: samples that are summed up weigh the same by stack, thread and labels,
// are in the order of time, and the warnings about them are right.
func TestTooManySamples(t *testing.T) {
	for _, limit := range []int{1, 10, 5_000, 15_000} {
		whole, small := twoSamples()
		small.limit = limit
		addRandom(20_000, true, whole, small)
		if got, want := weights(small), weights(whole); !maps.Equal(got, want) {
			t.Errorf("limit %d: the sums differ", limit)
		}
		rest := small.Rest()
		if n := int64(small.Len()) + rest.Summed; n != 20_000 || rest.Summed == 0 || rest.CutStacks != 0 {
			t.Errorf("limit %d: %d samples, and %+v", limit, small.Len(), rest)
		}
		if limit >= 15_000 && (small.Len() > limit || rest.Slot > 5*time.Second) {
			t.Errorf("limit %d: %d samples are left, in slots of %v", limit, small.Len(), rest.Slot)
		}
		last, times := int64(-1), 0
		for x := range small.All() {
			if x.Time < last {
				t.Fatalf("limit %d: a sample at %d is behind one at %d", limit, x.Time, last)
			}
			last, times = x.Time, times+1
		}
		if len(rest.Warnings()) != 1 || len(whole.Rest().Warnings()) != 0 {
			t.Errorf("limit %d: %q, and of all %q", limit, rest.Warnings(), whole.Rest().Warnings())
		}
	}
}

// TestTooManyStacks: of stacks for which there is no room the outer frames are right, and all
// weighs the same together.
func TestTooManyStacks(t *testing.T) {
	whole, small := twoSamples()
	small.nodes = 100
	addRandom(20_000, false, whole, small)
	if n := small.tree.size(); n > 2*small.nodes {
		t.Errorf("%d nodes", n)
	}
	if got, want := NewProfile(nil, Options{}, small).Totals(), NewProfile(nil, Options{}, whole).Totals(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("all weighs %v, want %v", got, want)
	}
	var cut int64
	had := weights(whole)
	for key, w := range weights(small) {
		if strings.Contains(key, cutName) {
			cut += w[0]
			continue
		}
		if had[key] != w {
			t.Errorf("%q weighs %v, want %v", key, w, had[key])
		}
	}
	if rest := small.Rest(); cut == 0 || rest.CutStacks != cut {
		t.Errorf("%d samples have cut stacks, said are %d", cut, rest.CutStacks)
	}
}

// TestTooManyAddresses: the heaviest addresses without a name are exact, and the others weigh
// the same together.
func TestTooManyAddresses(t *testing.T) {
	whole, small := twoSamples()
	small.nameless = 50
	for i := range 2_000 { // each twice, in two stacks, one of which is as heavy as i is odd and large
		for _, s := range []*Samples{whole, small} {
			at, weight := uint64(i+1)<<12, int64(i%2*i)
			s.AddStack(time.Unix(0, int64(i)), 5, 1, s.InternAddresses(5, []uint64{at, 9 << 40}), 0, 1, weight)
			s.AddStack(time.Unix(0, int64(i)), 5, 1, s.InternAddresses(5, []uint64{at, at + 1, at + 2, 9 << 40}), 0, 1, 1)
		}
	}
	exact, got := NewProfile(nil, Options{}, whole), NewProfile(nil, Options{}, small)
	if fmt.Sprint(exact.Totals()) != fmt.Sprint(got.Totals()) {
		t.Errorf("all weighs %v, want %v", got.Totals(), exact.Totals())
	}
	tops := make(map[string]Top)
	for _, x := range exact.View().Top() {
		tops[exact.Frames[x.Frame].Name] = x
	}
	var own int64
	named := make(map[string]bool)
	list := got.View().Top()
	for _, x := range list {
		name := got.Frames[x.Frame].Name
		named[name] = true
		own += x.Self[1]
		if want := tops[name]; name != namelessName && (fmt.Sprint(want.Self) != fmt.Sprint(x.Self) || fmt.Sprint(want.Total) != fmt.Sprint(x.Total)) {
			t.Errorf("%s: %v, want %v", name, x, want)
		}
	}
	if own != exact.Totals()[1] || len(list) > 2*small.nameless+1 {
		t.Errorf("%d frames weigh %d of %d", len(list), own, exact.Totals()[1])
	}
	for _, x := range exact.View().Top()[:20] {
		if name := exact.Frames[x.Frame].Name; !named[name] {
			t.Errorf("%s has no frame, and weighs %v", name, x.Self)
		}
	}
	if exact.Rest().Addresses != 0 || got.Rest().Addresses == 0 || len(got.Rest().Warnings()) != 1 {
		t.Errorf("%+v, and of all %+v", got.Rest(), exact.Rest())
	}
}
