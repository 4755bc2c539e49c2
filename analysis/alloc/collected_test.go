package alloc

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// TestCompare: ticks say how much collections found where that is more than a tenth off, and where
// collections tell of as much.
func TestCompare(t *testing.T) {
	for _, test := range []struct {
		ticks     uint64
		found     float64
		by        string
		different bool
	}{
		{119e6, 99, "collections and ticks", true}, {105e6, 99, "collections and ticks", false}, {119e6, 99, "collections", false}, // since the last one it does not tell
		{80e6, 99, "collections", true}, {80e6, 99, "ticks", false}, {80e6, 0, "", false},
	} {
		r := &Result{Runtimes: []*Runtime{{PID: 7, Ticks: &Ticks{Bytes: test.ticks}}, {PID: 8, Ticks: &Ticks{Bytes: 1}}, {PID: 7, Life: 1}}}
		r.Compare(&gc.Result{Runtimes: []*gc.Runtime{{PID: 7, AllocatedMB: measure.Known(test.found), AllocatedBy: test.by}}})
		if got := r.Runtimes[0].Ticks.CollectedMB; got.IsZero() == test.different || !got.IsZero() && got != measure.Known(test.found) || !r.Runtimes[1].Ticks.CollectedMB.IsZero() {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
