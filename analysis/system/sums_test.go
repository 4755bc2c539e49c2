package system

import (
	"math"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestRowsAddUp has all samples of a trace be in the row of a process, or be said to be in none.
func TestRowsAddUp(t *testing.T) {
	sampled := 0
	for _, path := range testtrace.All(t) {
		var mux etw.Mux
		u := NewUsage(&mux)
		testtrace.Run(t, &mux, path)
		u.Settle()
		res := u.Result()
		if res.Samples == 0 {
			continue
		}
		sampled++
		placed, ms := uint64(0), 0.0
		for _, p := range u.machine.allProcesses {
			placed += u.OfProcess(p).Samples
		}
		for _, p := range res.Processes {
			ms += p.SampledMS.Or(math.NaN())
		}
		if placed+res.Unresolved.Samples != res.Samples {
			t.Errorf("%s: %d samples in rows and %d in none, of %d", path, placed, res.Unresolved.Samples, res.Samples)
		}
		if each := res.SampleMS.Or(0); res.Unresolved.Samples == 0 && ms < float64(res.Samples)*each*(1-1e-9) {
			t.Errorf("%s: %v ms in rows, of %d samples of %v ms", path, ms, res.Samples, each)
		}
	}
	if sampled == 0 {
		t.Error("no trace has samples")
	}
}
