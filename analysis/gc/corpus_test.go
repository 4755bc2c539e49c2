package gc

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
)

// analyze returns the result of a trace.
func analyze(tb testing.TB, path string) *Result { return testtrace.Analyze(tb, New, path) }

// runtimeOf returns the runtime of a process in a trace of the corpus.
func runtimeOf(tb testing.TB, name string, pid int64) *Runtime {
	tb.Helper()
	for _, rt := range analyze(tb, testtrace.Named(tb, name)).Runtimes {
		if rt.PID == pid {
			return rt
		}
	}
	tb.Fatalf("%s: no process %d", name, pid)
	return nil
}

// The figures were measured before, by another program.
func TestPausesOfKnownTraces(t *testing.T) {
	for _, test := range []struct {
		trace                string
		pid                  int64
		blocking, background int
		foreground, others   int
		pauseMS, suspendedMS float64 // for collections, for other reasons
	}{
		{"gcevents.etl", 179596, 2, 0, 0, 0, 1.3288, 0},
		{"filtrace_etw.etl", 40356, 6, 0, 0, 1, 0.9762, 0.0069},
		{"net.4.5.2.x64.etl", 3676, 263, 0, 0, 1, 28.9706, 0.0044},
		{"net.4.5.2.x64.etl", 3988, 1, 0, 0, 0, 10.8771, 0},
		{"filtrace_alloc.nettrace", 61228, 7, 0, 0, 0, 1.5769, 0},
		{"filtrace_contention.nettrace", 41104, 6, 0, 0, 41, 1.6347, 0.9366},
		{"filtrace_exceptions.nettrace", 63000, 6, 0, 0, 42, 1.6753, 0.8032},
		{"filtrace_activity.nettrace", 71532, 6, 0, 0, 292, 1.6378, 5.0566},
		{"HeartRateMonitor.10068.nettrace", 10068, 1, 0, 0, 1622, 3.9250, 342.5879},
		{"eventpipe-dotnetcore3.0-win-x64-objver4.nettrace", 10064, 478, 0, 0, 5475, 7730.3399, 18784.85},
	} {
		rt := runtimeOf(t, test.trace, test.pid)
		others, suspended := 0, 0.0
		for _, r := range rt.Suspensions.ByReason {
			if !r.GC {
				others += r.Count
				suspended += r.TotalMS
			}
		}
		if rt.All.Blocking != test.blocking || rt.All.Background != test.background || rt.All.Foreground != test.foreground ||
			others != test.others || !testtrace.Near(rt.PauseMS, test.pauseMS, 1e-3) || !testtrace.Near(suspended, test.suspendedMS, 1e-2) {
			t.Errorf("%s: %d/%d/%d, %v ms; %d other suspensions, %v ms", test.trace,
				rt.All.Blocking, rt.All.Background, rt.All.Foreground, rt.PauseMS, others, suspended)
		}
	}
}

// A row holds the expected values of a collection, to the digits that are known.
type row struct {
	number                           uint32
	name                             string
	start, suspend, pause            float64
	allocated, before, after, promot float64
}

func checkRows(t *testing.T, rt *Runtime, rows []row) {
	t.Helper()
	if len(rt.GCs) != len(rows) {
		t.Fatalf("%d collections, want %d", len(rt.GCs), len(rows))
	}
	for i, want := range rows {
		g := rt.GCs[i]
		ok := g.Number == want.number && g.Name == want.name &&
			testtrace.Near(g.StartMS, want.start, 6e-4) && testtrace.Near(g.SuspendMS.Or(-1), want.suspend, 6e-4) &&
			testtrace.Near(g.PauseMS.Or(-1), want.pause, 6e-4) && testtrace.Near(g.BeforeMB.Or(-1), want.before, 6e-4) &&
			testtrace.Near(g.AfterMB.Or(-1), want.after, 6e-4) && testtrace.Near(g.PromotedMB.Or(-1), want.promot, 6e-4)
		if want.allocated >= 0 {
			ok = ok && testtrace.Near(g.AllocatedMB.Or(-1), want.allocated, 6e-4)
		}
		if !ok {
			t.Errorf("want %+v, got %+v", want, g)
		}
	}
}

func TestRowsOfKnownTraces(t *testing.T) {
	t.Run("gcevents", func(t *testing.T) {
		rt := runtimeOf(t, "gcevents.etl", 179596)
		checkRows(t, rt, []row{
			{1, "1NI", 11607.3582, 0.009, 0.787, -1, 1.468, 0.657, 0.311},
			{2, "2NI", 11608.1671, 0.006, 0.542, -1, 0.657, 0.437, 0.436},
		})
		g := rt.GCs[0]
		want := []struct{ after, survival, fragmentation float64 }{{0.001, 28, 82.2}, {0.314, 0, 1.1}, {0, -1, -1}, {0.326, -1, -1}, {0.016, -1, -1}}
		for i, w := range want {
			s := g.Generations[i]
			if !testtrace.Near(s.AfterMB.Or(-1), w.after, 6e-4) || i < 2 && !testtrace.Near(s.SurvivalPercent.Or(0), w.survival, 1) ||
				i < 2 && !testtrace.Near(s.FragmentationPercent.Or(-1), w.fragmentation, 0.06) {
				t.Errorf("generation %d is %+v", i, s)
			}
		}
		want = []struct{ after, survival, fragmentation float64 }{{0.001, 100, 82.2}, {0, 100, -1}, {0.311, -1, 0}, {0.109, -1, -1}, {0.016, -1, -1}}
		for i, w := range want {
			s := rt.GCs[1].Generations[i]
			if !testtrace.Near(s.AfterMB.Or(-1), w.after, 6e-4) || i < 2 && !testtrace.Near(s.SurvivalPercent.Or(-1), w.survival, 1e-9) ||
				i < 3 && !testtrace.Near(s.FragmentationPercent.Or(-1), w.fragmentation, 0.06) {
				t.Errorf("generation %d is %+v", i, s)
			}
		}
		if f := rt.GCs[1]; f.FinalizableMB != measure.Known(0) || f.PinnedObjects != measure.Known(1) {
			t.Errorf("finalizable %v, pinned %v", f.FinalizableMB, f.PinnedObjects)
		}
		if rt.CLRInstance != 8 {
			t.Errorf("the runtime has number %d", rt.CLRInstance)
		}
		if !testtrace.Near(g.Generations[0].AllocatedMB.Or(-1), 1.126, 6e-4) || g.AllocatedByTicks {
			t.Errorf("allocated %v", g.Generations[0].AllocatedMB)
		}
		times := Times{measure.Known(156), measure.Known(0), measure.Known(16), measure.Known(1), measure.Known(154), measure.Known(142), measure.Float{}, measure.Float{}}
		if g.Times == nil || *g.Times != times {
			t.Errorf("times %+v", g.Times)
		}
		if g.FinalizableMB.String() == "-" || !testtrace.Near(g.FinalizableMB.Or(0), 0.014, 6e-4) || g.PinnedObjects != measure.Known(1) {
			t.Errorf("finalizable %v, pinned %v", g.FinalizableMB, g.PinnedObjects)
		}
	})
	t.Run("HeartRateMonitor", func(t *testing.T) {
		rt := runtimeOf(t, "HeartRateMonitor.10068.nettrace", 10068)
		checkRows(t, rt, []row{{4, "0N", 1232.991, 0.146, 3.925, -1, 0.774, 0.673, 0.068}})
		if s := rt.GCs[0].Generations[0].SurvivalPercent; !testtrace.Near(s.Or(0), 40, 1) {
			t.Errorf("survival %v", s)
		}
		for i, after := range []float64{0.000, 0.389, 0.218, 0.066} {
			if s := rt.GCs[0].Generations[i]; !testtrace.Near(s.AfterMB.Or(-1), after, 6e-4) {
				t.Errorf("generation %d is %+v", i, s)
			}
		}
	})
	t.Run("alloc", func(t *testing.T) {
		rt := runtimeOf(t, "filtrace_alloc.nettrace", 61228)
		checkRows(t, rt, []row{
			{1, "2NI", 20.636, 0.003, 0.426, 0.652, 0.692, 0.318, 0.314},
			{2, "2NI", 21.305, 0.002, 0.127, 0.001, 0.318, 0.318, 0.292},
			{3, "2NI", 45.956, 0.002, 0.326, 0.364, 0.690, 0.379, 0.377},
			{4, "2NI", 46.319, 0.001, 0.122, 0.001, 0.379, 0.379, 0.362},
			{5, "0N", 54.524, 0.003, 0.198, 18.870, 19.253, 0.379, 0.000},
			{6, "2NI", 55.761, 0.002, 0.275, 7.126, 7.505, 0.362, 0.361},
			{7, "2NI", 56.064, 0.001, 0.104, 0.000, 0.362, 0.362, 0.361},
		})
		p := rt.All.PauseMS
		if !testtrace.Near(p.Max.Or(0), 0.426, 6e-4) || !testtrace.Near(p.Mean.Or(0), 0.225, 6e-4) || !testtrace.Near(p.P50.Or(0), 0.198, 6e-4) ||
			!testtrace.Near(p.P95.Or(0), 0.396, 6e-4) || !testtrace.Near(p.P99.Or(0), 0.420, 6e-4) || !testtrace.Near(rt.All.AllocatedMB.Or(0), 27.014, 6e-4) {
			t.Errorf("all: %+v", rt.All)
		}
		// The others are of some 100 µs, and the figures were from the heap's statistics
		// of the collection before, not from its end.
		for i, rate := range map[int]float64{0: 31.6, 2: 14.8, 4: 2334} {
			if r := rt.GCs[i].AllocationRateMBPerSec; !testtrace.Near(r.Or(0), rate, max(0.06, rate/2000)) {
				t.Errorf("rate %v", r)
			}
		}
	})
	t.Run("3.0", func(t *testing.T) {
		rt := runtimeOf(t, "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace", 10064)
		g0, g1, p := rt.ByGeneration[0], rt.ByGeneration[1], rt.All.PauseMS
		if g0.Count != 473 || !testtrace.Near(g0.PauseMS.Total, 7642.17, 6e-3) || !testtrace.Near(g0.PauseMS.Max.Or(0), 48.10, 6e-3) ||
			!testtrace.Near(g0.PauseMS.Mean.Or(0), 16.16, 6e-3) || !testtrace.Near(g0.PromotedMB, 48.8, 6e-2) {
			t.Errorf("generation 0: %+v", g0)
		}
		if g1.Count != 5 || !testtrace.Near(g1.PauseMS.Total, 88.17, 6e-3) || !testtrace.Near(g1.PauseMS.Max.Or(0), 23.32, 6e-3) || !testtrace.Near(g1.PauseMS.Mean.Or(0), 17.63, 6e-3) {
			t.Errorf("generation 1: %+v", g1)
		}
		if !testtrace.Near(p.P50.Or(0), 14.91, 6e-3) || !testtrace.Near(p.P95.Or(0), 23.30, 6e-3) || !testtrace.Near(p.P99.Or(0), 26.06, 6e-3) {
			t.Errorf("pauses: %+v", p)
		}
		if !testtrace.Near(rt.All.AllocatedByHistoriesMB, 1115.5, 6e-2) || !testtrace.Near(rt.All.AllocatedMB.Or(0), 1117.896, 6e-4) || !testtrace.Near(rt.TickedMB, 4235.07, 6e-3) {
			t.Errorf("allocated %v, by histories %v, ticked %v MB", rt.All.AllocatedMB, rt.All.AllocatedByHistoriesMB, rt.TickedMB)
		}
		if v := rt.PausePercentOfActive.Or(0); !testtrace.Near(v, 23.6, 0.1) {
			t.Errorf("paused %v %%", v)
		}
	})
}

// Programs' own accounts of their collections. Pauses as the runtime counts them are up to a
// fifth shorter than the suspensions are.
func TestTruth(t *testing.T) {
	traces := 0
	for _, path := range testtrace.All(t) {
		var truth struct {
			Scenario string
			PID      int64
			Begin    counters              `json:"counters_begin"`
			End      counters              `json:"counters_end"`
			Memory   map[string]memoryInfo `json:"gc_memory_info"`
		}
		if !testtrace.Truth(t, path, &truth) || truth.End.Gen0 == 0 {
			continue
		}
		for _, rt := range analyze(t, path).Runtimes {
			if rt.PID != truth.PID || len(rt.GCs) == 0 {
				continue
			}
			traces++
			name := testtrace.Name(path)
			checkCounters(t, name, rt, truth.Begin, truth.End)
			for kind, info := range truth.Memory {
				checkMemoryInfo(t, name+": "+kind, rt, info)
			}
		}
	}
	t.Logf("%d traces know the truth", traces)
}

type counters struct {
	Gen0  int     `json:"gc_count_gen0_incl_higher"`
	Gen1  int     `json:"gc_count_gen1_incl_higher"`
	Gen2  int     `json:"gc_count_gen2"`
	Pause float64 `json:"gc_total_pause_ms"`
	Bytes float64 `json:"total_allocated_bytes"`
}

func checkCounters(t *testing.T, name string, rt *Runtime, begin, end counters) {
	last := rt.GCs[len(rt.GCs)-1].Number
	if last != uint32(end.Gen0) {
		t.Errorf("%s: the last collection is %d, want %d", name, last, end.Gen0)
	}
	if rt.NumbersBefore > 0 {
		// They are of regions without collections.
	} else if got := rt.ByGeneration[1].Count + rt.ByGeneration[2].Count; got != end.Gen1 || rt.ByGeneration[2].Count != end.Gen2 {
		t.Errorf("%s: %d collections of generation 1 and 2, %d of generation 2, want %+v", name, got, rt.ByGeneration[2].Count, end)
	}
	if got := rt.All.Count + rt.MissingNumbers + rt.NumbersBefore; got != end.Gen0 {
		t.Errorf("%s: %d collections, want %d", name, got, end.Gen0)
	}
	if rt.PauseMS < end.Pause-begin.Pause || rt.PauseMS*0.82 > end.Pause {
		t.Errorf("%s: paused for %v ms, want a little more than %v", name, rt.PauseMS, end.Pause)
	}
}

type memoryInfo struct {
	Index       uint32
	Generation  int
	Compacted   bool
	Concurrent  bool
	HeapSize    float64 `json:"heap_size"`
	Fragmented  float64
	Promoted    float64
	Pinned      float64   `json:"pinned_objects"`
	PausesMS    []float64 `json:"pauses_ms"`
	Generations []struct {
		Before     float64 `json:"size_before"`
		After      float64 `json:"size_after"`
		FragBefore float64 `json:"frag_before"`
		FragAfter  float64 `json:"frag_after"`
	}
}

func checkMemoryInfo(t *testing.T, name string, rt *Runtime, info memoryInfo) {
	for _, g := range rt.GCs {
		if g.Number != info.Index {
			continue
		}
		if int(g.Generation) != info.Generation || g.Compacting == nil || (g.Kind == Background) != info.Concurrent {
			t.Errorf("%s: %+v, want %+v", name, g, info)
		}
		if promoted := g.PromotedMB.Or(-1) * 1e6; !testtrace.Near(promoted, info.Promoted, 0.5) {
			t.Errorf("%s: promoted %v, want %v", name, promoted, info.Promoted)
		}
		for i, want := range info.Generations {
			s := g.Generations[i]
			if !testtrace.Near(s.BeforeMB.Or(-1)*1e6, want.Before, 0.5) || !testtrace.Near(s.FragmentationMB.Or(-1)*1e6, want.FragAfter, 0.5) {
				t.Errorf("%s: generation %d of %d is %+v, want %+v", name, i, g.Number, s, want)
			}
		}
	}
}
