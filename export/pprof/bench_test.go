package pprof

import (
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

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
		s.AddStack(i*1e6, 1, i%16, ids[rng.IntN(len(ids))], 0, 1, 1e6)
	}
	return s
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
