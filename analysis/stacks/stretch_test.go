package stacks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// large returns a profile with more pieces than are summed up one by one, and what is made of
// it: half of its samples, those of the stacks without a frame, and a time of it. The second of
// its stores begins anew, so that times go back.
func large(t *testing.T, r *rand.Rand) map[string]*Profile {
	n := leastStretched * blockRows
	p := NewProfile(nil, Options{}, randomSamples(r, n), randomSamples(r, n/8))
	list := map[string]*Profile{"all": p}
	list["half"] = p.Only(func(Sample) bool { return r.IntN(2) == 0 })
	without, err := p.Apply(Filter{Exclude: "0x5"})
	if err != nil {
		t.Fatal(err)
	}
	list["without"] = without
	v, err := p.Query(context.Background(), Query{From: time.Unix(0, 77_777_777)})
	if err != nil {
		t.Fatal(err)
	}
	list["time"] = v.Profile()
	for name, p := range list {
		if stretches, err := p.stretches(context.Background()); err != nil || len(p.pieces) < leastStretched || len(stretches) < 2 {
			t.Fatalf("%s: %d pieces, %d stretches, %v", name, len(p.pieces), len(stretches), err)
		}
	}
	return list
}

// windows returns queries for times of every kind: in a piece, in a stretch, in several, from
// an edge of a stretch to another, and open; and of threads, labels, spans and patterns.
func windows(r *rand.Rand, p *Profile) []Query {
	stretches, _ := p.stretches(context.Background())
	edge := func() time.Time {
		x := p.pieces[stretches[r.IntN(len(stretches))].from]
		return time.Unix(0, []int64{x.from, x.to, x.to + 1}[r.IntN(3)])
	}
	first, last := p.Times()
	from := func(share float64) time.Time {
		return time.Unix(0, first+r.Int64N(int64(float64(last-first)*(1-share))))
	}
	window := func(share float64) Query {
		q := Query{From: from(share)}
		q.To = q.From.Add(time.Duration(share * float64(last-first)))
		return q
	}
	list := []Query{window(1e-4), window(0.03), window(0.4), window(0.9), {From: from(0.5)}, {To: from(0.5)}, {From: edge()}, {To: edge()}}
	a, b := edge(), edge()
	if b.Before(a) {
		a, b = b, a
	}
	list = append(list, Query{From: a, To: b}, Query{From: a, To: b, Margin: 600})
	threads, labels, spans, pattern := window(0.5), window(0.5), window(0.5), window(0.5)
	threads.Threads, labels.Labels, spans.Spans, pattern.Filter = []int64{10, 21}, []Label{{"state", "waiting"}}, true, Filter{Group: "0x[12]->few", Exclude: "0x3"}
	return append(list, threads, labels, spans, pattern)
}

// A plain is the sums of samples that were picked one by one.
type plain struct {
	rows   int64
	all    [2]int64
	stacks [][2]int64
	tags   []Part
	order  []int32 // of tags
}

func newPlain(p *Profile) *plain {
	return &plain{stacks: make([][2]int64, p.Stacks()), tags: make([]Part, len(p.tags))}
}

func (x *plain) add(s *Sample, tag int32, weight int64) {
	sum := func(of *[2]int64) { of[0], of[1] = of[0]+s.Values[0], of[1]+weight }
	x.rows++
	sum(&x.all)
	sum(&x.stacks[s.Stack])
	part := &x.tags[tag]
	if part.Samples == 0 {
		*part = Part{s.Process, s.Thread, s.Labels, 0, make([]int64, 2)}
		x.order = append(x.order, tag)
	}
	part.Samples++
	sum((*[2]int64)(part.Values))
}

func (x *plain) parts() (list []Part) {
	for _, tag := range x.order {
		list = append(list, x.tags[tag])
	}
	return list
}

// scanPlain picks the samples of queries one by one.
func scanPlain(p *Profile, list ...Query) []*plain {
	sums := make([]*plain, len(list))
	for i := range sums {
		sums[i] = newPlain(p)
	}
	sample := p.sampler(len(p.Types))
	for _, x := range p.each(p.into) {
		s := sample(x)
		for i := range list {
			if weight, ok := picked(list[i], s); ok {
				sums[i].add(&s, x.tag, weight)
			}
		}
	}
	return sums
}

// check holds the answer to a query without patterns against the sums.
func (x *plain) check(p *Profile) error {
	scanned, told := scanPlain(p, Query{})[0], make([][2]int64, p.Stacks())
	for _, path := range p.View().Paths() {
		told[path.Stack] = [2]int64(path.Values)
	}
	switch {
	case p.Len() != int(x.rows) || scanned.rows != x.rows:
		return fmt.Errorf("%d samples are told, there are %d, want %d", p.Len(), scanned.rows, x.rows)
	case [2]int64(p.Totals()) != x.all:
		return fmt.Errorf("the sum is %v, want %v", p.Totals(), x.all)
	case !slices.Equal(scanned.stacks, x.stacks):
		return errors.New("other samples were picked")
	case !slices.Equal(told, x.stacks):
		return errors.New("the sums of stacks are others")
	case fmt.Sprint(p.Parts()) != fmt.Sprint(x.parts()):
		return fmt.Errorf("parts are\n%v, want\n%v", p.Parts(), x.parts())
	}
	return nil
}

// TestStretches holds times of a large profile against a plain scan of its samples.
func TestStretches(t *testing.T) {
	seeds := 1
	if os.Getenv("ETWGEN_TESTS") == "all" {
		seeds = 2
	}
	for range seeds {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		for name, p := range large(t, r) {
			list := windows(r, p)
			want := scanPlain(p, list...)
			for i, q := range list {
				if err := checkWindow(p, q, want[i]); err != nil {
					t.Errorf("seed %d, %s, query %d, %+v: %v", seed, name, i, q, err)
				}
			}
		}
	}
}

func checkWindow(p *Profile, q Query, want *plain) error {
	v, err := p.Query(context.Background(), q)
	if err != nil {
		return err
	}
	if q.Filter == (Filter{}) {
		return want.check(v.Profile())
	}
	only, err := p.Only(func(s Sample) bool {
		_, ok := picked(q, s)
		return ok
	}).Apply(q.Filter)
	if err != nil {
		return err
	}
	if got, want := fmt.Sprint(v.Profile().Len(), v.Top()), fmt.Sprint(only.Len(), only.View().Top()); got != want {
		return fmt.Errorf("%s, want %s", got, want)
	}
	return nil
}

// TestStretchesAtOnce: whoever gives up leaves nothing behind, and several ask at once.
func TestStretchesAtOnce(t *testing.T) {
	p := NewProfile(nil, Options{}, randomSamples(rand.New(rand.NewPCG(7, 8)), leastStretched*blockRows))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	first, last := p.Times()
	if _, err := p.Query(ctx, Query{From: time.Unix(0, first+1)}); !errors.Is(err, context.Canceled) || p.tallied.stretches != nil {
		t.Fatalf("%v, %d stretches", err, len(p.tallied.stretches))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			q := Query{From: time.Unix(0, first+int64(i)*(last-first)/9), To: time.Unix(0, last)}
			v, err := p.Query(context.Background(), q)
			if err == nil {
				err = scanPlain(p, q)[0].check(v.Profile())
			}
			if err != nil {
				t.Errorf("%+v: %v", q, err)
			}
		})
	}
	all.Wait()
}
