package analysis

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/jit"
)

// TestRecordedPrograms holds recordings of a program that we know, made by runtimes of .NET
// 9 and 10, against its account.
func TestRecordedPrograms(t *testing.T) {
	for name, check := range map[string]func(*Result) bool{
		"gc-server": func(r *Result) bool {
			rt := r.GC.Runtimes[0]
			return rt.Heaps == 2 && rt.MaxHeaps == 2 && *rt.ServerGC && rt.All.Induced >= 3 && rt.All.Background > 0 && pinnedHeap(rt)
		},
		"gc-datas": func(r *Result) bool {
			rt := r.GC.Runtimes[0]
			// A heap that is new says nonsense of objects with finalizers, which is no size.
			return *rt.ServerGC && slices.ContainsFunc(rt.GCs, func(g *gc.GC) bool { return len(g.Dynamic) > 0 || g.Heaps == 1 }) &&
				!slices.ContainsFunc(rt.GCs, func(g *gc.GC) bool { return g.FinalizableMB.Or(0) > 1e6 })
		},
		"gc-background": func(r *Result) bool {
			rt := r.GC.Runtimes[0]
			return rt.MaxHeaps == 1 && rt.All.Background > 0 && rt.Partial+rt.Unfinished == 0 && rt.Finalizers.Count >= 3 && pinnedHeap(rt)
		},
		"alloc": func(r *Result) bool {
			return r.Alloc.Runtimes[0].Ticks.Count > 10 && slices.ContainsFunc(r.Alloc.Types[:4], func(x alloc.Type) bool { return x.Type == "Leaf" })
		},
		"waits": func(r *Result) bool { return r.Waits.Count >= 4 && r.Waits.TotalMS > 50 },
		"locks": func(r *Result) bool {
			rt := r.Contention.Runtimes[0]
			return r.Contention.Count > 0 && len(rt.Owners) > 0 && rt.Locks[0].Lock != ""
		},
		"pool": func(r *Result) bool {
			return r.ThreadPool.Runtimes[0].Starvation != nil && r.ThreadPool.Runtimes[0].MaxWorkers > 2
		},
		"exceptions": func(r *Result) bool {
			rt := r.Exceptions.Runtimes[0]
			return r.Exceptions.Count >= 7 && rt.Filters.Or(0) == 5 && rt.Finallys.Or(0) == 5 && len(rt.Threads) == 2
		},
		"requests": func(r *Result) bool {
			tasks := r.Requests.Processes[0].Tasks
			return len(tasks) == 2 && tasks[0].Task == "Request" && tasks[0].Count == 12 && tasks[0].Errors.Or(-1) == 2 &&
				tasks[1].Count == 12 && tasks[1].Slowest[0].Parent == "Request"
		},
	} {
		for _, version := range []string{"9", "10"} {
			checkRecorded(t, name+"-"+version+".nettrace", check)
		}
	}
	for _, version := range []string{"9", "10"} {
		checkRecorded(t, "heap-"+version+".nettrace.gz", keepsChain)
	}
	checkRecorded(t, "alloc-sampled-10.nettrace", func(r *Result) bool {
		s := r.Alloc.Runtimes[0].Samples
		return s.Count > 20 && s.Bytes > 4e6 && s.Bytes < 12e6 // of some 7 MB
	})
	checkRecorded(t, "jit-10.nettrace.gz", climbsTiers)
	checkRecorded(t, "r2r-10.nettrace.gz", func(r *Result) bool {
		p := r.JIT.Runtimes[0].Precompiled
		return p.Found > 100 && p.Missing > 10 && len(p.MissingMethods) == p.Missing && p.MS > 0 && r.JIT.Count == 0
	})
	checkRecorded(t, "counters-10.nettrace", func(r *Result) bool {
		p := r.Counters.Processes[0]
		return len(p.Counters) == 1 && p.Counters[0].Name == "stock" && p.Counters[0].Points[1].Mean.Or(0) >= 100 && len(p.Metrics) == 3
	})
}

// keepsChain looks for the thousand leaves of the program, and for the chain that
// keeps them: a hundred arrays of eleven references, which one field holds.
func keepsChain(r *Result) bool {
	s := r.Heap.Snapshots[0]
	leaf := slices.IndexFunc(s.Types, func(x heap.Type) bool { return x.Type == "Leaf" })
	if !s.Complete || leaf < 0 || s.Types[leaf].Count != 1000 || s.Types[leaf].RetainedBytes != s.Types[leaf].Bytes {
		return false
	}
	const ofLink = 16 + 8 + 11*8 + 10*24 // header and length, references, leaves
	o := s.Largest[0]                    // but for a leaf that may still be on the stack
	return o.Type == "System.Object[]" && o.RetainedBytes > 99*ofLink && o.RetainedBytes <= 100*ofLink && o.Path[0] == "static chain"
}

// climbsTiers looks for a method that is compiled again as it is called often, and for
// one whose loop goes on in better code.
func climbsTiers(r *Result) bool {
	has := func(method, tier, trigger string, version uint64) bool {
		return slices.ContainsFunc(r.JIT.Methods, func(m jit.Method) bool {
			return m.Method == method && m.Tier == tier && m.Trigger == trigger && m.Version == version
		})
	}
	tiering := r.JIT.Runtimes[0].Tiering
	return has("Program.Square(int32)", "QuickJitted", "foreground", 0) && has("Program.Square(int32)", "InstrumentedTier", "tiering", 1) &&
		has("Program.Square(int32)", "OptimizedTier1", "tiering", 2) && has("Program.Loop(int32)", "OptimizedTier1OSR", "foreground", 1) &&
		tiering.Batches > 0 && tiering.Methods >= 4 && tiering.BusyMS > 0
}

// pinnedHeap reports whether the heap of pinned objects was used.
func pinnedHeap(rt *gc.Runtime) bool {
	return slices.ContainsFunc(rt.GCs, func(g *gc.GC) bool {
		return slices.ContainsFunc(g.Generations, func(s gc.GenerationSizes) bool { return s.Generation == 4 && s.AfterMB.Or(0) > 0.015 })
	})
}

func checkRecorded(t *testing.T, name string, check func(*Result) bool) {
	t.Helper()
	res, err := Run(t.Context(), testtrace.Open(t, filepath.Join("..", "tests", "recorded", "answers", name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !check(res) {
		text := marshal(t, res)
		t.Errorf("%s: %.3000s", name, text)
	}
}
