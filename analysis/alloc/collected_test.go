package alloc

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
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

// Of a runtime before .NET 5 no error is told; and its ticks are too many where collections, and
// ticks since the last of these, are fewer.
func TestOld(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	for i := range 4 {
		s.Event(time.Duration(i), 1, &clr.GCAllocationTickV3{AllocationAmount64: 100e6, TypeName: etw.MakeUTF16("A")})
	}
	r := a.Result()
	r.Compare(&gc.Result{Runtimes: []*gc.Runtime{{PID: 1, AllocatedMB: measure.Known(300.0), AllocatedBy: "collections", TickedAfterMB: measure.Known(20.0)}}})
	if x := r.Runtimes[0].Ticks; !x.Old || x.CollectedMB != measure.Known(300.0) || !x.Types[0].ErrorPercent.IsZero() || !r.Types[0].ErrorPercent.IsZero() || len(r.Warnings()) != 1 {
		t.Errorf("%+v, %q", x, r.Warnings())
	}
	s.Event(9, 2, &clr.GCAllocationTickV4{ClrInstanceID: 3, AllocationAmount64: 100e3, ObjectSize: 24, TypeName: etw.MakeUTF16("B")})
	if x := a.Result().Runtimes[1].Ticks; x.Old || x.Types[0].ErrorPercent != measure.Known(100.0) {
		t.Errorf("%+v", x)
	}
}
