package stacks

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestColumn: columns have the numbers that were put in, whatever they differ by.
func TestColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, numbers := range [][]int64{
		{0}, {5, 5, 5}, {5, 5, 6}, {7, math.MaxInt32, math.MinInt32}, {1, 1 + math.MaxInt32, 2 + math.MaxInt32, 1},
		{math.MaxInt64, math.MinInt64}, {math.MinInt64, 0, math.MaxInt64}, {-1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64 - 1, math.MinInt64 + 1},
	} {
		for range 50 { // with numbers near and far behind them
			list := slices.Clone(numbers)
			for range r.IntN(30) {
				list = append(list, list[r.IntN(len(list))]+r.Int64N(3)<<r.IntN(63))
			}
			checkColumn(t, r, list)
		}
	}
}

func checkColumn(t *testing.T, r *rand.Rand, list []int64) {
	t.Helper()
	var c column
	for i, x := range list {
		c.append(i, x, r.IntN(40))
	}
	before := c.clip()
	for k := range 2 {
		if got := c.read(make([]int64, len(list))); !slices.Equal(got, list) {
			t.Fatalf("%d: %v, want %v", k, got, list)
		}
		for i, x := range list {
			if c.get(i) != x {
				t.Fatalf("%d: row %d has %d, want %d", k, i, c.get(i), x)
			}
		}
		if k == 0 {
			was := slices.Clone(list)
			c.narrow, c.wide = slices.Clone(c.narrow), slices.Clone(c.wide)
			for i := range list {
				list[i] += r.Int64N(3) << r.IntN(63)
				c.set(len(list), i, list[i])
			}
			if got := before.read(make([]int64, len(list))); !slices.Equal(got, was) {
				t.Fatalf("another column has %v, want %v", got, was)
			}
		}
	}
}

// TestBytes: a sample takes no more than 20 bytes beside its stack, also where Samples and a
// profile have it.
func TestBytes(t *testing.T) {
	const n = 200_000
	before := inUse()
	hold := func(what string, most float64) {
		t.Helper()
		if each := float64(inUse()-before) / n; each > most {
			t.Errorf("%.1f bytes %s", each, what)
		}
	}
	profile := func() *Profile {
		s := many(n, 1)
		hold("a sample", 20)
		p := NewProfile(nil, Options{}, s)
		hold("a sample, of which there is a profile", 20)
		runtime.KeepAlive(s)
		return p
	}
	p := profile()
	hold("a row of a profile", 20)
	if p.Len() != n {
		t.Errorf("%d samples", p.Len())
	}
}

// TestShared: samples that are added later, to others or as new ones, are in no profile that was
// made before.
func TestShared(t *testing.T) {
	s := NewSamples("x", counts, times)
	s.limit = 3000
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s.AddStack(time.Unix(0, int64(i)*1000), 1, int64(i%3), s.InternAddresses(1, []uint64{uint64(1 + i%5)}), 0, 1, int64(i)<<(i%40))
		}
	}
	var profiles []*Profile
	var all [][]Sample
	for i := range 8 {
		add(i*1000, (i+1)*1000)
		p := NewProfile(nil, Options{}, s)
		profiles, all = append(profiles, p), append(all, slices.Collect(p.Samples()))
	}
	if s.Rest().Summed == 0 {
		t.Error("no samples were summed up")
	}
	for i, p := range profiles {
		at := 0
		for x := range p.Samples() {
			if !slices.Equal(x.Values, all[i][at].Values) || x.Time != all[i][at].Time || x.Thread != all[i][at].Thread {
				t.Fatalf("profile %d: sample %d is %v, and was %v", i, at, x, all[i][at])
			}
			at++
		}
		if got := p.Totals()[0]; got != int64(i+1)*1000 || at != len(all[i]) {
			t.Errorf("profile %d: %d samples in %d rows, had %d", i, got, at, len(all[i]))
		}
	}
}
