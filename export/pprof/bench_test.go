package pprof

import (
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// million returns a million samples with stacks of 40 frames, of 20,000 different
// stacks that have their outer halves in common.
func million() *stacks.Samples {
	s := stacks.NewSamples("cpu", stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "cpu", Unit: "nanoseconds"})
	rng := rand.New(rand.NewPCG(1, 2))
	ids := make([]stacks.ID, 20_000)
	frames := make([]uint64, 40)
	for i := range ids {
		for k := range frames {
			frames[k] = 0x7fff00000000 + uint64(k)<<24
			if k < len(frames)/2 { // the innermost come first
				frames[k] += rng.Uint64N(400) << 8
			}
		}
		ids[i] = s.InternAddresses(1, frames)
	}
	for i := range int64(1_000_000) {
		s.AddStack(time.Unix(0, i*1e6), 1, i%16, ids[rng.IntN(len(ids))], 0, 1, 1e6)
	}
	return s
}

// Samples and frames allocate nothing when they are written: allocated memory is kept, or is
// there once for all of them.
func TestAllocations(t *testing.T) {
	s := stacks.NewSamples("cpu", stacks.ValueType{Name: "samples", Unit: "count"})
	state := s.Label(0, "state", "user")
	for i := range uint64(2000) {
		s.AddStack(time.Unix(0, int64(i)), 1, 1, s.InternAddresses(1, []uint64{i % 3, 7, i % 1000, i % 11}), state, 1)
	}
	p := stacks.NewProfile(nil, stacks.Options{}, s)
	n := testing.AllocsPerRun(5, func() {
		if err := Write(io.Discard, p, Options{}); err != nil {
			t.Error(err)
		}
	})
	if n > 200 { // the functions share names, and tables grow now and then
		t.Errorf("%v allocations for 1000 stacks of 2000 samples", n)
	}
}

// BenchmarkMillion writes a profile of a million samples. MB is the memory that is in use
// when all is done, with the samples.
func BenchmarkMillion(b *testing.B) {
	s := million()
	b.ReportAllocs()
	var m runtime.MemStats
	for b.Loop() {
		p := stacks.NewProfile(nil, stacks.Options{}, s)
		if err := Write(io.Discard, p, Options{}); err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&m)
	}
	b.ReportMetric(float64(m.HeapSys)/1e6, "MB")
}
