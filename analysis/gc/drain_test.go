package gc

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// TestDrain drains an analysis after each event: it hands over the collections of another
// one that keeps everything, and keeps little, also of collections without an end.
func TestDrain(t *testing.T) {
	var mux, other etw.Mux
	drained, whole := New(&mux), New(&other)
	a, b := testtrace.NewScript(t, &mux), testtrace.NewScript(t, &other)
	var got []string
	var paused Pause // the last one
	drained.OnPause(func(p Pause) { paused = p })
	at := time.Duration(0)
	event := func(e etw.Event) {
		at += time.Millisecond
		a.Event(at, 1, e)
		b.Event(at, 1, e)
		drained.Drain(func(_ int64, g *GC) {
			got = append(got, inJSON(t, g))
			if !g.Start.Equal(paused.Begin) || g.StartMS != paused.StartMS || g.Start.IsZero() {
				t.Errorf("collection %d began at %v, %v ms, its pause at %v, %v ms", g.Number, g.Start, g.StartMS, paused.Begin, paused.StartMS)
			}
		})
	}
	for n := uint32(1); n <= 1000; n++ {
		event(&clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC})
		event(&clr.GCSuspendEEEndV1{})
		event(&clr.GCStartV2{Count: n, Depth: n % 3})
		if n%2 == 0 { // of the others the end is lost
			event(&clr.GCEndV1{Count: n, Depth: n % 3})
			event(&clr.GCHeapStatsV2{GenerationSize0: uint64(n) * 1e6})
		}
		event(&clr.GCRestartEEEndV1{})
	}
	var want []string
	for _, g := range whole.Result().Runtimes[0].GCs {
		if g.Complete() {
			want = append(want, inJSON(t, g))
		}
	}
	if diff := cmp.Diff(want, got); len(want) != 500 || diff != "" {
		t.Errorf("%d collections (-want +got):\n%s", len(want), diff)
	}
	if n := drained.Result().Runtimes[0].Count; n > maxOpen {
		t.Errorf("%d collections are kept", n)
	}
}

// TestDrainAllocated holds the allocations of collections that are handed over as they end
// against those of the whole trace: one that ends while another goes on can lack them.
func TestDrainAllocated(t *testing.T) {
	known, all := 0, 0
	for _, path := range corpus.Glob(t, "dotnet10", "*.nettrace") {
		var mux, other etw.Mux
		drained, whole := New(&mux), New(&other)
		got := map[[2]int64]measure.Float{}
		hand := func() error {
			drained.Drain(func(pid int64, g *GC) { got[[2]int64{pid, int64(g.Number)}] = g.AllocatedMB })
			return nil
		}
		etw.Handle(&mux, func(*etw.Record, *clr.AnyGCRestartEEEnd) error { return hand() })
		etw.Handle(&mux, func(*etw.Record, *clr.AnyGCHeapStats) error { return hand() })
		testtrace.Run(t, &mux, path)
		testtrace.Run(t, &other, path)
		for _, rt := range whole.Result().Runtimes {
			for _, g := range rt.GCs {
				mb, ok := got[[2]int64{rt.PID, int64(g.Number)}]
				if !ok || g.AllocatedMB == (measure.Float{}) {
					continue
				}
				if all++; mb == g.AllocatedMB {
					known++
				} else if mb != (measure.Float{}) {
					t.Errorf("%s: collection %d: %v MB, and %v of the whole trace", path, g.Number, mb, g.AllocatedMB)
				}
			}
		}
	}
	if t.Logf("%d of %d", known, all); known*10 < all*9 {
		t.Errorf("of %d collections %d have what was allocated", all, known)
	}
}

func inJSON(t *testing.T, g *GC) string {
	t.Helper()
	return string(testio.Marshal(t, g))
}
