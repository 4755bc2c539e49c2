package stacks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// random returns a profile of samples of several processes and threads, of which the values are
// up to as long as the time between many of them, and some less than nothing.
func random(n int) *Profile {
	return NewProfile(nil, Options{}, randomSamples(rand.New(rand.NewPCG(5, 6)), n))
}

func randomSamples(r *rand.Rand, n int) *Samples {
	s := NewSamples("blocked", counts, times)
	labels := []LabelSet{0, s.Label(0, "state", "waiting"), s.Label(0, "state", "ready")}
	labels = append(labels, s.Label(labels[1], "reason", "lock"))
	for i := range n {
		frames := make([]uint64, r.IntN(8))
		for k := range frames {
			frames[k] = uint64(1 + r.IntN(6))
		}
		process := int64(1 + r.IntN(3))
		weight := r.Int64N(40_000_000)
		if r.IntN(20) == 0 {
			weight = -weight
		}
		s.AddStack(time.Unix(0, int64(i)*1_000_000+r.Int64N(3_000_000)), process, process*10+int64(r.IntN(2)), s.InternAddresses(process, frames), labels[r.IntN(4)], 1, weight)
	}
	return s
}

var queries = []Query{
	{},
	{From: time.Unix(0, 700_000_123)},
	{To: time.Unix(0, 2_500_000_000)},
	{From: time.Unix(0, 1_000_000_000), To: time.Unix(0, 1_000_000_000)},
	{From: time.Unix(0, 1_000_000_000), To: time.Unix(0, 1_000_000_000), Margin: 600_000},
	{From: time.Unix(0, 1_234_567_890), To: time.Unix(0, 2_345_678_901), Spans: true},
	{From: time.Unix(0, 1_500_000_000), Margin: 600, Spans: true, Processes: []int64{2}},
	{To: time.Unix(0, 1_500_000_000), Spans: true, Labels: []Label{{"state", "waiting"}}},
	{Processes: []int64{1, 3}, Threads: []int64{11, 30, 31}},
	{Threads: []int64{99}},
	{Labels: []Label{{"reason", "lock"}, {"state", "waiting"}}, Filter: Filter{Fold: "0x3", Group: "0x[12]->few"}},
	{From: time.Unix(0, 300_000_000), To: time.Unix(0, 2_900_000_000), Processes: []int64{1, 2}, Filter: Filter{Group: "@^0x[12]$->few", Exclude: "0x5", FoldPercent: 3}},
	{From: time.Unix(1, 0), To: time.Unix(2, 0), Spans: true, Filter: Filter{Include: "0x4"}},
}

// picked is the choice of a query, sample by sample, with the whole weight and the part of it.
func picked(q Query, s Sample) (weight int64, ok bool) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.From.IsZero() {
		from = q.From.UnixNano() - int64(q.Margin)
	}
	if !q.To.IsZero() {
		to = q.To.UnixNano() + int64(q.Margin)
	}
	weight = s.Values[1]
	begin, end, sign := s.Time, s.Time, int64(1)
	if q.Spans {
		if weight < 0 {
			sign = -1
		}
		end += sign * weight
	}
	if end < from || end == from && begin < end || begin >= to {
		return 0, false
	}
	if q.Spans {
		weight = sign * (min(end, to) - max(begin, from))
	}
	for _, l := range q.Labels {
		if !slices.Contains(s.Labels, l) {
			return 0, false
		}
	}
	if len(q.Processes) > 0 && !slices.Contains(q.Processes, s.Process) || len(q.Threads) > 0 && !slices.Contains(q.Threads, s.Thread) {
		return 0, false
	}
	return weight, true
}

// sumsOf returns the weights of a profile by stack.
func sumsOf(p *Profile) map[string][2]int64 {
	sums := make(map[string][2]int64)
	for s := range p.Samples() {
		key := fmt.Sprint(slices.Collect(p.Stack(s.Stack)))
		x := sums[key]
		sums[key] = [2]int64{x[0] + s.Values[0], x[1] + s.Values[1]}
	}
	return sums
}

// TestQuery holds queries against a search that picks samples one by one.
func TestQuery(t *testing.T) {
	p := random(3000)
	for i, q := range slices.Concat(queries, queries) { // the second time they are known
		v, err := p.Query(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		want, rows := make(map[string][2]int64), 0
		only := p.Only(func(s Sample) bool {
			weight, ok := picked(q, s)
			if ok {
				rows++
				key := fmt.Sprint(slices.Collect(p.Stack(s.Stack)))
				x := want[key]
				want[key] = [2]int64{x[0] + 1, x[1] + weight}
			}
			return ok
		})
		if q.Filter != (Filter{}) {
			if only, err = only.Apply(q.Filter); err != nil {
				t.Fatal(err)
			}
			if !q.Spans && !slices.EqualFunc(only.View().Top(), v.Top(), func(a, b Top) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
				t.Errorf("query %d: %v, want %v", i, v.Top(), only.View().Top())
			}
			if only.Len() != v.Profile().Len() {
				t.Errorf("query %d: %d samples, want %d", i, v.Profile().Len(), only.Len())
			}
			continue
		}
		if got := sumsOf(v.Profile()); !maps.Equal(got, want) {
			t.Errorf("query %d: %v, want %v", i, got, want)
		}
		if v.Profile().Len() != rows {
			t.Errorf("query %d: %d samples, want %d", i, v.Profile().Len(), rows)
		}
	}
	if v, err := new(Profile).Query(context.Background(), queries[4]); err != nil || len(v.Top()) != 0 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := p.Query(context.Background(), Query{Filter: Filter{Fold: "@("}}); err == nil {
		t.Error("a bad pattern is taken")
	}
}

// TestQueryCancelled: an answer that was not ready in time is made when it is asked for again.
func TestQueryCancelled(t *testing.T) {
	p := random(200)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, q := range queries {
		if _, err := p.Query(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	v, err := p.Query(context.Background(), queries[1])
	if err != nil {
		t.Fatal(err)
	}
	b := Buckets{From: time.Unix(0, 0), To: time.Unix(1, 0), N: 3}
	if _, err := v.StacksWhen(context.Background(), b, 1); err != nil {
		t.Error(err)
	}
}

// TestQueryAtOnce: several ask at the same time, with the same result as one after the other.
func TestQueryAtOnce(t *testing.T) {
	p, alone := random(2000), random(2000)
	var all sync.WaitGroup
	for i := range 4 * len(queries) {
		q := queries[i%len(queries)]
		v, err := alone.Query(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(v.Top())
		all.Go(func() {
			if v, err := p.Query(context.Background(), q); err != nil || fmt.Sprint(v.Top()) != want {
				t.Errorf("%+v: %v, %v, want %s", q, v, err, want)
			}
		})
	}
	all.Wait()
}

// TestWhen: the buckets of a stack and of a frame are those of its samples, one by one.
func TestWhen(t *testing.T) {
	p := random(2000)
	v := p.View()
	var stacks []ID
	for _, id := range []int{0, 1, 2, 5, p.Stacks() / 2, p.Stacks() - 1, 2} {
		stacks = append(stacks, ID(id))
	}
	frames := []int{0, 3, 1, 3}
	for _, b := range []Buckets{
		{From: time.Unix(0, 0), To: time.Unix(3, 0), N: 32},
		{From: time.Unix(0, 500_000_000), To: time.Unix(0, 1_500_000_001), N: 7, Spans: true},
		{From: time.Unix(2, 0), To: time.Unix(2, 1), N: 1},
		{From: time.Unix(2, 0), To: time.Unix(2, 0), N: 4},
	} {
		want := make([][]int64, len(stacks)+len(frames))
		for i := range want {
			want[i] = make([]int64, b.N)
		}
		for s := range p.Samples() {
			var path []ID
			var met []int
			for id := s.Stack; ; {
				if path = append(path, id); id == 0 {
					break
				}
				caller, frame := p.Split(id)
				id, met = caller, append(met, frame)
			}
			for i, id := range stacks {
				if slices.Contains(path, id) {
					addWhen(want[i], b, s)
				}
			}
			for i, f := range frames {
				if slices.Contains(met, f) {
					addWhen(want[len(stacks)+i], b, s)
				}
			}
		}
		got, err := v.StacksWhen(context.Background(), b, stacks...)
		if err != nil {
			t.Fatal(err)
		}
		more, err := v.FramesWhen(context.Background(), b, frames...)
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, more...); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v:\n%v, want\n%v", b, got, want)
		}
	}
}

// addWhen adds a sample to its buckets: of a span each nanosecond's bucket by its begin.
func addWhen(sums []int64, b Buckets, s Sample) {
	from, to := b.From.UnixNano(), b.To.UnixNano()
	if to <= from {
		return
	}
	edge := func(i int) int64 {
		if i == b.N {
			return to
		}
		return from + int64(float64(i)*(float64(to-from)/float64(b.N)))
	}
	x, sign := s.Values[1], int64(1)
	if x < 0 {
		sign = -1
	}
	for i := range b.N {
		switch {
		case b.Spans:
			sums[i] += sign * max(0, min(s.Time+sign*x, edge(i+1))-max(s.Time, edge(i)))
		case s.Time >= from && s.Time < to && min(int(float64(s.Time-from)/(float64(to-from)/float64(b.N))), b.N-1) == i:
			sums[i] += x
		}
	}
}
