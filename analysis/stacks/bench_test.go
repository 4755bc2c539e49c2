package stacks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// many returns n samples of 64 threads, one each 10 µs, of so many stacks.
func many(n, stacks int) *Samples {
	s := NewSamples("cpu", counts, times)
	s.limit = n
	r := rand.New(rand.NewPCG(1, 2))
	lists, ids := make([][]uint64, stacks), make([]ID, stacks) // the outermost first
	for i := range lists {
		var frames []uint64
		if i > 0 {
			from := lists[r.IntN(i)]
			frames = append(frames, from[:min(len(from), 1+r.IntN(12))]...)
		}
		for range 1 + r.IntN(4) {
			frames = append(frames, 0x1000+16*uint64(r.IntN(20_000)))
		}
		lists[i] = frames
		inward := make([]uint64, len(frames))
		for k, f := range frames {
			inward[len(frames)-1-k] = f
		}
		ids[i] = s.InternAddresses(7, inward)
	}
	zipf := rand.NewZipf(r, 1.05, 50, uint64(stacks-1))
	labels := []LabelSet{s.Label(0, "state", "managed"), s.Label(0, "state", "external")}
	for i := range n {
		s.AddStack(time.Unix(0, int64(i)*10_000), 7, int64(r.IntN(64)), ids[zipf.Uint64()], labels[r.IntN(2)], 1, 990_000+int64(r.IntN(20_000)))
	}
	return s
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

var manyNames = func() (list [20_000]symbols.Native) {
	for i := range list {
		list[i] = symbols.Native{Module: fmt.Sprintf("/lib/lib%d.so", i%50), Function: fmt.Sprintf("Space%d::Method%d()", i%400, i)}
	}
	return list
}()

func nameMany(_ int64, address uint64, _ time.Time) (symbols.Native, bool) {
	return manyNames[(address-0x1000)/16%20_000], true
}

// BenchmarkQueries has the questions of a viewer beside a plain scan of columns.
func BenchmarkQueries(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		before := inUse()
		s := many(n, n/50)
		b.Logf("%d samples: %.1f bytes each, with %d nodes", n, float64(inUse()-before)/float64(n), s.tree.size())
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
			})
		}
		run("NewProfile", func() { NewProfile(nil, Options{}, s) })
		run("NewProfile, named", func() { NewProfile(nil, Options{Native: nameMany}, s) })
		p := NewProfile(nil, Options{Native: nameMany}, s)
		s = nil
		b.Logf("profile: %.1f bytes a sample", float64(inUse()-before)/float64(n))
		scan := newScan(p)
		run("plain scan", scan.sum)
		run("View", func() { p.View() })
		from, to := time.Unix(0, int64(n)*10_000/3), time.Unix(0, int64(n)*10_000/2)
		pattern := Filter{Group: "{%}!->module $1", FoldPercent: 1}
		k := time.Duration(0) // nothing is asked twice
		ask := func(q Query) {
			k++
			if _, err := p.Query(context.Background(), q); err != nil {
				b.Fatal(err)
			}
		}
		run("window, a sixth", func() { ask(Query{From: from.Add(k), To: to.Add(k)}) })
		run("window, a sixth, with a pattern", func() { ask(Query{From: from.Add(k), To: to.Add(k), Filter: pattern}) })
		run("window, nearly all", func() { ask(Query{From: time.Unix(1, 0).Add(k)}) })
		run("a thread", func() { ask(Query{From: time.Unix(0, 0).Add(k), Threads: []int64{7}}) })
		run("pattern", func() {
			ask(Query{Filter: Filter{Group: fmt.Sprintf("{%%}!->module $1 %d", k), FoldPercent: 1}})
		})
		v := p.View()
		run("when", func() {
			if _, err := v.StacksWhen(context.Background(), Buckets{From: from, To: to, N: 32}, v.Called(0)...); err != nil {
				b.Fatal(err)
			}
		})
		run("inverted", func() { p.Inverted().View() })
		match, err := Match("lib7.so!")
		if err != nil {
			b.Fatal(err)
		}
		run("callers", func() { p.CallersOf(match).View() })
	}
}

// A scan has the columns of a profile plainly.
type scan struct {
	stack  []int32
	values []int64
	sums   []int64
}

func newScan(p *Profile) *scan {
	s := &scan{sums: make([]int64, p.Stacks())}
	for x := range p.Samples() {
		s.stack, s.values = append(s.stack, int32(x.Stack)), append(s.values, x.Values[1])
	}
	return s
}

func (s *scan) sum() {
	clear(s.sums)
	for i, id := range s.stack {
		s.sums[id] += s.values[i]
	}
}
