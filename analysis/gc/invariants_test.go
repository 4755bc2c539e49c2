package gc

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// checkInvariants checks invariants that hold for all events.
func checkInvariants(tb testing.TB, a *Analysis) {
	tb.Helper()
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		parts, pauses := s.withoutGC.ticks, int64(0)
		for _, c := range s.gcs {
			parts += c.pause
		}
		for i := range s.byReason {
			if suspend.ForGC(clr.GCSuspendEEReason(i)) {
				pauses += s.byReason[i].ticks
			}
		}
		if parts != pauses {
			tb.Errorf("%d: the pauses of collections and those without are %d ticks, the suspensions %d", rt.PID, parts, pauses)
		}
	}
	res := a.Result()
	for _, rt := range res.Runtimes {
		checkRuntime(tb, rt)
	}
	b, err := json.Marshal(res)
	if err != nil || bytes.Contains(b, []byte("NaN")) {
		tb.Fatalf("the result is no JSON: %v", err)
	}
	var back Result
	if err := json.Unmarshal(b, &back); err != nil || len(back.Runtimes) != len(res.Runtimes) {
		tb.Fatalf("the result does not come back: %v", err)
	}
}

func checkRuntime(tb testing.TB, rt *Runtime) {
	tb.Helper()
	byGen, kinds := 0, rt.All.Blocking+rt.All.Background+rt.All.Foreground
	for _, r := range rt.ByGeneration {
		byGen += r.Count
	}
	if byGen != rt.All.Count || kinds != rt.All.Count || rt.All.Count+rt.Unfinished+rt.Partial != rt.Count || rt.Count != len(rt.GCs) {
		tb.Errorf("%d: %d of all, %d by generation, %d by kind, %d unfinished, %d partial, %d listed",
			rt.PID, rt.All.Count, byGen, kinds, rt.Unfinished, rt.Partial, rt.Count)
	}
	for _, g := range rt.GCs {
		checkGC(tb, g)
	}
	for _, v := range []float64{rt.PauseMS, rt.SpanMS, rt.Suspensions.OpenMS, rt.Suspensions.WithoutGCMS} {
		if v < 0 {
			tb.Errorf("%d: a time of %v ms", rt.PID, v)
		}
	}
}

func checkGC(tb testing.TB, g *GC) {
	tb.Helper()
	const less = 1e-6
	for _, v := range []measure.Float{g.SuspendMS, g.PauseMS, g.DurationMS, g.PausePercent, g.AllocatedMB, g.AllocationRateMBPerSec,
		g.InitialPauseMS, g.FinalPauseMS, g.BeforeMB, g.AfterMB} {
		if v.Or(0) < 0 {
			tb.Errorf("%d: a negative number %v in %+v", g.Number, v, g)
		}
	}
	if g.PausePercent.Or(0) > 100+less && g.Kind != Background {
		tb.Errorf("%d: paused for %v %%", g.Number, g.PausePercent)
	}
	if g.SuspendMS.Or(0) > g.PauseMS.Or(g.SuspendMS.Or(0))+less {
		tb.Errorf("%d: suspending takes %v of a pause of %v", g.Number, g.SuspendMS, g.PauseMS)
	}
	if g.PeakMB.Or(0)+less < g.AfterMB.Or(0) || !g.PeakMB.IsZero() && g.PeakMB.Or(0)+less < g.BeforeMB.Or(0) {
		tb.Errorf("%d: the peak is %v, before %v, after %v", g.Number, g.PeakMB, g.BeforeMB, g.AfterMB)
	}
	var after float64
	for _, s := range g.Generations {
		after += s.AfterMB.Or(0)
		out, before := s.OutMB.Or(0), s.ObjectsBeforeMB.Or(0)
		if v, ok := s.SurvivalPercent.Get(); ok && math.Abs(v*before/100-out) > 1e-6 {
			tb.Errorf("%d: %v %% of %v MB are %v MB of generation %d", g.Number, v, before, out, s.Generation)
		}
		if v := s.FragmentationPercent.Or(0); v < 0 || v > 100 {
			tb.Errorf("%d: %v %% of generation %d", g.Number, v, s.Generation)
		}
	}
	if g.AfterMB.Or(after) != after && !testtrace.Near(g.AfterMB.Or(0)/after, 1, 1e-9) {
		tb.Errorf("%d: after %v, by generation %v", g.Number, g.AfterMB, after)
	}
}

// checkReal checks invariants of traces in which nothing was lost.
func checkReal(t *testing.T, rt *Runtime) {
	last := uint32(0)
	for i, g := range rt.GCs {
		if g.Number <= last {
			t.Errorf("collection %d after %d", g.Number, last)
		}
		last = g.Number
		switch {
		case !g.Complete() || g.SuspensionMissing:
		case g.Kind == Background && g.PauseMS.Or(0) > g.DurationMS.Or(0)+g.SuspendMS.Or(0)+rt.Suspensions.between(g):
			t.Errorf("%d: a pause of %v ms, a duration of %v", g.Number, g.PauseMS, g.DurationMS)
		case g.Kind != Background && g.DurationMS.Or(0) > g.PauseMS.Or(0):
			t.Errorf("%d: a duration of %v ms, a pause of %v", g.Number, g.DurationMS, g.PauseMS)
		}
		if g.Kind == Foreground && !inBackground(rt.GCs[:i], g) {
			t.Errorf("%d is a foreground collection without a background one", g.Number)
		}
	}
}

// between is the time between the request to suspend and the begin of a
// collection, apart from the suspending.
func (Suspensions) between(g *GC) float64 {
	return g.BeginMS.Or(g.StartMS) - g.StartMS - g.SuspendMS.Or(0) + 2 // and the release
}

func inBackground(before []*GC, g *GC) bool {
	for _, b := range before {
		if b.Kind == Background && b.BeginMS.Or(0)+b.DurationMS.Or(1e9) >= g.BeginMS.Or(0) {
			return true
		}
	}
	return false
}

func TestInvariantsOfTraces(t *testing.T) {
	complete := 0
	for _, path := range testtrace.All(t) {
		var mux etw.Mux
		counts := countEvents(&mux)
		a := New(&mux)
		testtrace.Run(t, &mux, path)
		checkInvariants(t, a)
		res := a.Result()
		for _, rt := range a.runtimes.All() {
			complete += checkHistories(t, testtrace.Name(path), rt)
		}
		for _, rt := range res.Runtimes {
			checkReal(t, rt)
			if n := counts[rt.PID]; n != nil {
				checkCounts(t, testtrace.Name(path), rt, n)
			}
		}
	}
	t.Logf("%d collections", complete)
}

// eventCounts counts the events of a process.
type eventCounts struct {
	starts               map[uint32]bool
	ends, stats, globals int
	heaps, numHeaps      int
	gcTicks, unionTicks  int64 // of suspensions for collections
	open                 map[int64]int64
	last                 int64
}

// countEvents counts by other means than the analysis.
func countEvents(mux *etw.Mux) map[int64]*eventCounts {
	all := map[int64]*eventCounts{}
	of := func(r *etw.Record) *eventCounts {
		if all[r.ProcessID] == nil {
			all[r.ProcessID] = &eventCounts{starts: map[uint32]bool{}, open: map[int64]int64{}}
		}
		return all[r.ProcessID]
	}
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCStart) error { of(r).starts[e.Count] = true; return nil })
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCEnd) error { of(r).ends++; return nil })
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCHeapStats) error { of(r).stats++; return nil })
	etw.Handle(mux, func(r *etw.Record, e *clr.GCPerHeapHistoryV3) error { of(r).heaps++; return nil })
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCGlobalHeapHistory) error {
		of(r).globals++
		of(r).numHeaps += int(e.NumHeaps)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) error {
		if suspend.ForGC(e.Reason) {
			of(r).open[r.ThreadID] = r.Timestamp
		} else {
			delete(of(r).open, r.ThreadID)
		}
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCRestartEEEnd) error {
		c := of(r)
		if begin, ok := c.open[r.ThreadID]; ok {
			c.gcTicks += r.Timestamp - begin
			c.unionTicks += r.Timestamp - max(begin, c.last)
			c.last = r.Timestamp
			delete(c.open, r.ThreadID)
		}
		return nil
	})
	return all
}

func checkCounts(t *testing.T, name string, rt *Runtime, n *eventCounts) {
	if rt.Count != len(n.starts) || rt.All.Count != n.ends || rt.All.Count != n.stats {
		t.Errorf("%s: %d collections, %d complete; %d begins, %d ends, %d statistics", name, rt.Count, rt.All.Count, len(n.starts), n.ends, n.stats)
	}
	if n.globals > 0 && (n.globals != rt.All.Count || n.heaps != n.numHeaps) {
		t.Errorf("%s: %d collections, %d histories, %d of %d heaps", name, rt.All.Count, n.globals, n.heaps, n.numHeaps)
	}
	if n.gcTicks != n.unionTicks {
		t.Errorf("%s: suspensions for collections overlap: %d ticks, their union %d", name, n.gcTicks, n.unionTicks)
	}
	if rt.PauseMS > rt.SpanMS {
		t.Errorf("%s: paused for %v of %v ms", name, rt.PauseMS, rt.SpanMS)
	}
}

// checkHistories checks that the records of a collection agree, and returns how
// many collections it looked at.
func checkHistories(t *testing.T, name string, rt *runtime) int {
	n := 0
	for _, c := range rt.State.gcs {
		if !c.complete() {
			continue
		}
		n++
		if c.hasGlobal && (c.global.condemned != uint32(c.generation) || c.global.reason != c.reason) {
			t.Errorf("%s: %d is of generation %d for %v, and its history of %d for %v", name, c.number, c.generation, c.reason, c.global.condemned, c.global.reason)
		}
		if c.hasGlobal && len(c.heaps) != c.global.heaps {
			t.Errorf("%s: %d has histories of %d heaps of %d", name, c.number, len(c.heaps), c.global.heaps)
		}
		// The histories of a background collection of server GC are of a moment
		// after its statistics, and the program allocates in between.
		for i := range generations {
			if c.kind == Background && len(c.heaps) > 1 {
				break
			}
			if s := c.sum(i); len(c.heaps) > 0 && c.heaps[0].Layout == 3 && s.updated && s.after != c.stats.size[i] {
				t.Errorf("%s: %d leaves %d bytes in generation %d, and the statistics say %d", name, c.number, s.after, i, c.stats.size[i])
			}
		}
	}
	return n
}
