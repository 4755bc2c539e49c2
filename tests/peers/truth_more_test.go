package peers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// truthMore are further facts that only some programs know.
type truthMore struct {
	Memory     map[string]*truthMemory `json:"gc_memory_info"`
	Memory1    map[string]*truthMemory `json:"gc_memory_info_1"`
	Memory2    map[string]*truthMemory `json:"gc_memory_info_2"`
	Available  uint64                  `json:"total_available_memory_bytes"`
	Server     bool                    `json:"server_gc"`
	Configured *struct {
		HeapCount    int
		LOHThreshold uint64
		HardLimit    uint64 `json:"GCHeapHardLimit"`
	} `json:"gc_configuration_variables"`
	Methods *struct {
		OSR         string `json:"osr_method"`
		Tier1       string `json:"tier1_method"`
		Optimized   string `json:"aggressive_optimization"`
		Unoptimized string `json:"no_optimization"`
	} `json:"expect"`
	DynamicCount int                `json:"dynamic_methods_by_program"`
	AsyncSteps   string             `json:"async_steps"`
	MinThreads   int                `json:"min_threads"`
	WorkItems    int                `json:"work_items_by_program"`
	Queried      int                `json:"queried"`
	EvenMS       float64            `json:"ms_in_RecPlugin.Even.Burn"`
	OddMS        float64            `json:"ms_in_RecPlugin.Odd.Burn"`
	Phase2       map[string]float64 `json:"phase_2_ms_by_method"`
	Native       *struct {
		PID       int64
		Program   string
		Children  int                `json:"forked_children"`
		Functions map[string]float64 `json:"ms_by_function"`
	} `json:"native"`
	Dotnet *struct {
		PID     int64
		Program string
		Methods map[string]float64 `json:"ms_by_method"`
	} `json:"dotnet"`
}

// A truthMemory is GC.GetGCMemoryInfo's account of a collection.
type truthMemory struct {
	Index       uint32
	Generation  int
	Compacted   bool
	Concurrent  bool
	Promoted    float64
	Pinned      float64 `json:"pinned_objects"`
	Generations []struct {
		Before     float64 `json:"size_before"`
		FragBefore float64 `json:"frag_before"`
		FragAfter  float64 `json:"frag_after"`
	}
}

// holdMemory holds each collection that a program asked the collector about.
func holdMemory(s *truthSheet) {
	all := []map[string]*truthMemory{s.Memory}
	switch {
	case strings.HasPrefix(s.file, "heap-1"):
		all = append(all, s.Memory1)
	case strings.HasPrefix(s.file, "heap-2"):
		all = append(all, s.Memory2)
	}
	for _, kinds := range all {
		for _, info := range kinds {
			if info == nil {
				continue
			}
			for _, rt := range s.ours.GC.Runtimes {
				for _, g := range rt.GCs {
					if g.Number == info.Index && rt.PID == s.PID {
						holdCollection(s, g, info)
					}
				}
			}
		}
	}
}

func holdCollection(s *truthSheet, g *gc.GC, info *truthMemory) {
	s.is("the generation of "+g.Name, int(g.Generation), info.Generation)
	s.is("that it ran in the background, "+g.Name, g.Kind == gc.Background, info.Concurrent)
	bytes := func(mb float64) float64 { return math.Round(mb * 1e6) }
	s.is("promoted by "+g.Name, bytes(g.PromotedMB.Or(-1)), info.Promoted)
	for i, want := range info.Generations {
		s.is("the size before "+g.Name, bytes(g.Generations[i].BeforeMB.Or(-1)), want.Before)
		s.is("the free space after "+g.Name, bytes(g.Generations[i].FragmentationMB.Or(-1)), want.FragAfter)
		before := uint64(0)
		for k := range g.HeapHistories {
			h := &g.HeapHistories[k].Generations[i]
			before += h.FreeListBefore + h.FreeObjBefore
		}
		s.is("the free space before "+g.Name, float64(before), want.FragBefore)
	}
}

// holdSettings holds a program's readings of the settings of its collector.
func holdSettings(s *truthSheet) {
	for _, rt := range s.ours.GC.Runtimes {
		if rt.PID != s.PID || rt.Settings == nil {
			continue
		}
		s.is("server", rt.ServerGC != nil && *rt.ServerGC, s.Server)
		if s.Available > 0 {
			s.is("the hard limit", rt.Settings.HardLimitBytes, s.Available)
		}
		if c := s.Configured; c != nil {
			s.is("the limit of the heap", rt.Settings.HardLimitBytes, c.HardLimit)
			s.is("the threshold of large objects", rt.Settings.LOHThresholdBytes, c.LOHThreshold)
			s.is("heaps", rt.MaxHeaps, c.HeapCount)
		}
	}
}

// holdInduced holds how often a program asked for a collection, by whatever method.
func holdInduced(s *truthSheet) {
	asked := 0
	for name, n := range s.Counts {
		if strings.HasPrefix(name, "gc_collect_") && !strings.HasSuffix(name, "_optimized") { // which it may leave out
			asked += n
		}
	}
	if asked == 0 || !s.collected() {
		return
	}
	for _, rt := range s.ours.GC.Runtimes {
		s.is("collections that were asked for", rt.All.Induced, asked)
	}
}

// holdTiers holds that known methods were compiled as the program made sure.
func holdTiers(s *truthSheet) {
	if s.Methods == nil || len(s.ours.JIT.Methods) == 0 {
		return
	}
	tiers := map[string][]string{}
	dynamic, tiered := 0, false
	for i := range s.ours.JIT.Methods {
		m := &s.ours.JIT.Methods[i]
		name, _, _ := strings.Cut(m.Method, "(")
		tiers[name] = append(tiers[name], m.Tier)
		tiered = tiered || m.Tier == "OptimizedTier1"
		if strings.HasPrefix(name, "dynamicClass.Dyn") {
			dynamic++
		}
	}
	for tier, method := range map[string]string{
		"OptimizedTier1OSR": s.Methods.OSR, "OptimizedTier1": s.Methods.Tier1, "Optimized": s.Methods.Optimized, "MinOptJitted": s.Methods.Unoptimized,
	} {
		// It gets the second tier only if the trace lasts until then.
		if method != "" && (tier != "OptimizedTier1" || tiered) {
			s.holds(slices.Contains(tiers[method], tier), "tiers of "+method, tiers[method], tier)
		}
	}
	s.is("dynamic methods", dynamic, s.DynamicCount)
}

// holdTasks holds the steps of async methods, and the tasks that failed. Step(n) takes
// n+1 steps: 8 times 5, and 1 to 6.
func holdTasks(s *truthSheet) {
	if s.AsyncSteps == "" {
		return
	}
	s.is("steps", s.tells("TraceOperationBegin", "Async: <Step>"), 8*5+1+2+3+4+5+6)
	s.is("tasks that failed", s.tells("TaskCompleted", "true"), s.Counts["faulted_tasks_observed"])
}

func holdPool(s *truthSheet) {
	if s.WorkItems == 0 {
		return
	}
	rt := s.ours.ThreadPool.Runtimes[0]
	s.is("the least number of workers", rt.Limits.MinWorkers, s.MinThreads)
	s.holds(rt.Starvation != nil, "starvation", rt.Starvation, "some")
}

// holdDatabase holds the commands that a program gave to its database.
func holdDatabase(s *truthSheet) {
	if s.Queried == 0 {
		return
	}
	s.is("rows that were saved", s.tells("Activity2Start", "INSERT INTO"), s.Counts["rows_saved"])
	s.is("queries of one row", s.tells("Activity2Start", "LIMIT 1"), s.Counts["single_queries"])
	open := 0
	for _, p := range s.ours.Requests.Processes {
		open += p.Open
	}
	s.is("commands without an end", open, s.Counts["sqlite_exceptions"])
}

// holdPaths holds the requests by their path: the server sees one more, of a client
// that gave up waiting for it.
func holdPaths(s *truthSheet) {
	if s.tells("RequestStart ") == 0 || len(s.Statuses) == 0 {
		return
	}
	for name, want := range s.Counts {
		if path, ok := strings.CutPrefix(name, "path "); ok {
			if path == "/slow" {
				want += s.Counts["cancelled_by_client"]
			}
			s.is("requests of "+path, s.told["RequestStart "+path], want)
		}
	}
}

// holdBridge holds the requests that a server told by a DiagnosticSource, whose events
// have no activity.
func holdBridge(s *truthSheet) {
	if s.tells("Activity2Stop Microsoft.AspNetCore.Hosting.HttpRequestIn.Stop ", "StatusCode") == 0 {
		return
	}
	for name, want := range s.Counts {
		if path, ok := strings.CutPrefix(name, "path "); ok {
			if path == "/slow" {
				want += s.Counts["cancelled_by_client"]
			}
			s.is("requests of "+path, s.tells("Activity2Start ", "{Key=Path Value="+path+"}"), want)
		}
	}
	for status, want := range s.Statuses {
		if status == "200" { // that of the client that gave up
			want += s.Counts["cancelled_by_client"]
		}
		s.is("requests with status "+status, s.tells("Activity2Stop ", "HttpRequestIn", "{Key=StatusCode Value="+status+"}"), want)
	}
}

// holdPrecompiled holds that no more methods were looked for in vain than were compiled.
func holdPrecompiled(s *truthSheet) {
	for _, rt := range s.ours.JIT.Runtimes {
		if p := rt.Precompiled; p != nil && p.Lookups != nil && rt.Count == 0 && s.End.Compiled > 0 {
			s.holds(p.Missing <= s.End.Compiled && p.Missing >= s.End.Compiled*3/4, "methods without code", p.Missing, s.End.Compiled)
		}
	}
}

// holdProcesses holds which programs ran on a machine, and that no more of their
// children appear than they had.
func holdProcesses(s *truthSheet) {
	if s.Native == nil {
		return
	}
	if s.tells("ExistingProcess ") > 1 {
		s.is("the native program", s.told[fmt.Sprintf("ExistingProcess %d %s", s.Native.PID, s.Native.Program)], 1)
		s.is("the program of .NET", s.told[fmt.Sprintf("ExistingProcess %d %s", s.Dotnet.PID, s.Dotnet.Program)], 1)
	}
	children := s.told["ProcessCreate "+s.Native.Program+"-child"]
	s.holds(children <= s.Native.Children, "its children", children, s.Native.Children)
}

// holdLogs holds the requests that a program's log has.
func holdLogs(s *truthSheet) {
	const logger = "FormattedMessage Microsoft.AspNetCore.Hosting.Diagnostics "
	if s.tells(logger) == 0 {
		return
	}
	s.is("requests", s.tells(logger+"1 ", "Request starting"), s.Counts["requests"]+s.Counts["cancelled_by_client"])
	for status, want := range s.Statuses {
		got := s.tells(logger+"2 ", "Request finished", " - "+status+" ")
		if status == "200" { // that of the client that gave up
			want += s.Counts["cancelled_by_client"]
		}
		s.is("requests with status "+status, got, want)
	}
}

// msIn returns the time of samples in and below methods whose name has a part.
func (s *truthSheet) msIn(part string) float64 {
	ms := 0.0
	for _, row := range s.stacks.View().Top() {
		if strings.Contains(s.stacks.Frames[row.Frame].Name, part) {
			ms += float64(row.Total[1]) / 1e6
		}
	}
	return ms
}

func holdPlugins(s *truthSheet) {
	if s.EvenMS == 0 {
		return
	}
	s.within("ms in even plugins", s.msIn("RecPlugin.Even.Burn("), s.EvenMS, 0.2)
	s.within("ms in odd plugins", s.msIn("RecPlugin.Odd.Burn("), s.OddMS, 0.2)
}

// peerPhase2 are the names that methods have in the trace.
var peerPhase2 = map[string]string{
	"Bakery.Cpu.Recurse": "Bakery.Cpu.Recurse(", "Bakery.Cpu+Mixer<Int32>.Mix": "Mixer`1[System.Int32].Mix(",
	"Bakery.Cpu+Mixer<String>.Mix": "Mixer`1[System.__Canon].Mix(",
}

func holdPhase2(s *truthSheet) {
	all, total := 0.0, 0.0
	for method, part := range peerPhase2 {
		all += s.Phase2[method]
		total += s.msIn(part)
	}
	for method, part := range peerPhase2 {
		if all > 0 {
			share, want := 100*s.msIn(part)/total, 100*s.Phase2[method]/all
			s.holds(math.Abs(share-want) <= 8, "percent of "+method, share, want)
		}
	}
}

// holdLinux holds the shares of functions in traces of Linux against programs' own measures.
// They ran before and after, too, so that only shares can be compared. Their clock went on
// while they did not run: two processors had more to do than they could, and a function that
// wants 2 ms of the clock has little of the processor if another thread has 4 of that. So it
// is the time on processors and off them that must be equal; where the trace has no context
// switches, the processor's is further off.
func holdLinux(s *truthSheet) {
	if s.Native == nil {
		return
	}
	parts, switched := s.linuxProfiles()
	bound := 12.0
	if switched {
		bound = 3
	}
	for _, program := range []struct {
		pid int64
		ms  map[string]float64
	}{{s.Native.PID, s.Native.Functions}, {s.Dotnet.PID, s.Dotnet.Methods}} {
		all, total, samples := 0.0, 0.0, 0
		for _, want := range program.ms {
			all += want
		}
		got := map[string]float64{}
		for _, p := range parts {
			for x := range p.Samples() {
				method := methodOf(p, x, program.ms)
				if x.Process != program.pid || method == "" {
					continue // a child does the same, and nobody counts it
				}
				got[method] += float64(x.Values[1])
				total += float64(x.Values[1])
				samples++
			}
		}
		if samples < 50 {
			continue
		}
		for method, ms := range program.ms {
			share, want := 100*got[method]/total, 100*ms/all
			s.t.Logf("%s: %s has %.1f %%, by its own clock %.1f %%", s.file, method, share, want)
			s.holds(math.Abs(share-want) <= bound, "percent of "+method, share, want)
		}
	}
}

// methodOf returns the innermost of some methods in the stack of a sample, or nothing.
func methodOf(p *stacks.Profile, x stacks.Sample, methods map[string]float64) string {
	for f := range p.Stack(x.Stack) {
		name, _, _ := strings.Cut(p.Frames[f].Name, "(")
		if name = name[strings.LastIndexByte(name, '!')+1:]; methods[name] > 0 {
			return name
		}
	}
	return ""
}

// linuxProfiles reads the trace again, for the samples that recorders of Linux take, and
// the times in which threads did not run, if the trace tells.
func (s *truthSheet) linuxProfiles() (parts []*stacks.Profile, switched bool) {
	t := testio.Open(s.t, trace.Open, s.path)
	defer t.Close()
	var mux etw.Mux
	names, linux, off := symbols.New(&mux), cpu.NewLinux(&mux), threads.New(&mux)
	linux.SetInterval(1e6)
	if err := mux.Run(s.t.Context(), t); err != nil {
		s.t.Fatal(err)
	}
	o := stacks.Options{Raw: true, Native: names.Native}
	parts = append(parts, stacks.NewProfile(names.Table(), o, linux.Samples()...))
	if off.Result().Switches == 0 {
		return parts, false
	}
	return append(parts, stacks.NewProfile(names.Table(), o, off.Samples()...)), true
}
