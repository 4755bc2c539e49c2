package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/gc"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newGC returns the command that shows garbage collections.
func newGC() *question {
	return &question{
		name:  "gc",
		short: "Show garbage collections and their pauses",
		long: `Gc shows the garbage collections of .NET programs: how long threads were stopped
for them, what they collected and why, and how large the heap was. A pause lasts from
the request to stop the threads until they run again; those of background collections
are added up.

The rows are collections, the longest pause first, or what --by says: generations,
reasons of collections, processes, reasons of suspensions, or types of finalized
objects.

With -p, --name or --port it is about a live process: each collection is a line as it
ends, with the percentiles of the pauses so far, up to the last 10,000.`,
		example: `  etw gc gc.nettrace
  etw gc --top 5 --sort promotedMB gc.nettrace
  etw gc --by generation --format md gc.nettrace
  etw gc --by suspension gc.nettrace
  etw gc --format csv --sort startMs gc.nettrace
  etw gc --format json gc.nettrace | jq '.runtimes[].pauseMs'
  etw gc -p 1234 --duration 10m`,
		views: []string{"collection", "generation", "reason", "process", "suspension", "finalized"},
		needs: gcNeeds,
		ask:   func(mux *etw.Mux) answer { return &gcAnswer{analysis: gc.New(mux)} },
	}
}

type gcAnswer struct {
	analysis *gc.Analysis
	res      *gc.Result
}

func (a *gcAnswer) take() bool {
	a.res = a.analysis.Result()
	return slices.ContainsFunc(a.res.Runtimes, func(rt *gc.Runtime) bool { return rt.Count > 0 || rt.PauseMS > 0 })
}

func (a *gcAnswer) result() any        { return a.res }
func (a *gcAnswer) warnings() []string { return a.res.Warnings() }

func (a *gcAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes && p.by != "process" {
		p.title(fmt.Sprintf("%d runtimes", len(a.res.Runtimes)))
		p.small(a.processes(p.names))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		gcFacts(p, rt)
	}
	if p.by != "generation" {
		p.small(a.generations(p.names))
	}
}

// gcFacts prints what is known of the collections of a runtime.
func gcFacts(p *page, rt *gc.Runtime) {
	p.line("collections", "%s", gcCounts(rt))
	p.line("pauses", "%s, %s of %.3f s", ms(rt.PauseMS), percentOf(rt.PausePercent), rt.SpanMS/1000)
	if rt.All.PauseMS.Count > 0 {
		s := rt.All.PauseMS
		p.line("of a collection", "mean %s, median %s, p95 %s, p99 %s, longest %s", msOf(s.Mean), msOf(s.P50), msOf(s.P95), msOf(s.P99), msOf(s.Max))
	}
	if rt.All.Count > 0 {
		last := rt.GCs[len(rt.GCs)-1]
		p.line("heap", "%s at most, %s after collections on average, %s after the last one", mbOf(rt.All.MaxPeakMB), mbOf(rt.All.MeanAfterMB), mbOf(last.AfterMB))
		rate := ""
		if v, ok := quantity.Ratio(quantity.Known(1000*rt.All.AllocatedByHistoriesMB), rt.FirstToLastMS).Get(); ok && v > 0 {
			rate = ", " + mb(v) + "/s from the first to the last"
		}
		p.line("allocated", "%s before collections%s; %s promoted", mb(rt.All.AllocatedMB), rate, mb(rt.All.PromotedMB))
	}
	p.line("collector", "%s", collector(rt))
	if !rt.GCCPUMS.IsZero() {
		p.line("processor", "%s for collections, of %s", msOf(rt.GCCPUMS), msOf(rt.CPUMS))
	}
	var others []string
	for _, r := range rt.Suspensions.ByReason {
		if !r.GC {
			others = append(others, fmt.Sprintf("%d for %s, %s", r.Count, r.Reason, ms(r.TotalMS)))
		}
	}
	p.line("other stops", "%s", strings.Join(others, "; "))
	if f := rt.Finalizers; f != nil {
		p.line("finalizers", "%s in %s, %s", count(f.Count, "was run", "were run"), count(f.Runs, "pass", "passes"), ms(f.MS))
	}
	if n := len(rt.AllocWaits); n > 0 {
		p.line("waits", "%s for memory during a background collection", count(n, "long wait", "long waits"))
	}
}

// gcCounts says how many collections of which kinds there were.
func gcCounts(rt *gc.Runtime) string {
	var parts []string
	for _, g := range rt.ByGeneration {
		parts = append(parts, fmt.Sprintf("%d of generation %d", g.Count, g.Generation))
	}
	text := fmt.Sprintf("%d: %s", rt.Count, strings.Join(parts, ", "))
	for _, more := range []struct {
		n    int
		kind string
	}{
		{rt.All.Background, "in the background"}, {rt.All.Foreground, "during a background one"}, {rt.All.Induced, "induced"},
		{rt.Unfinished, "not finished"}, {rt.Partial, "without begin"},
	} {
		if more.n > 0 {
			text += fmt.Sprintf("; %d %s", more.n, more.kind)
		}
	}
	return text
}

// collector says how the collector is set.
func collector(rt *gc.Runtime) string {
	var parts []string
	if rt.ServerGC != nil {
		parts = append(parts, map[bool]string{false: "workstation", true: "server"}[*rt.ServerGC])
	}
	switch {
	case rt.MaxHeaps > rt.Heaps:
		parts = append(parts, fmt.Sprintf("%d heaps at the end, %d at most", rt.Heaps, rt.MaxHeaps))
	case rt.Heaps > 0:
		parts = append(parts, count(rt.Heaps, "heap", "heaps"))
	}
	if s := rt.Settings; s != nil {
		parts = append(parts, map[bool]string{false: "not concurrent", true: "concurrent"}[s.Concurrent])
		if s.HardLimitBytes > 0 {
			parts = append(parts, "hard limit "+mb(float64(s.HardLimitBytes)/1e6))
		}
	}
	return strings.Join(parts, ", ")
}

func (a *gcAnswer) table(view string, who *names) *table {
	switch view {
	case "generation":
		return a.generations(who)
	case "reason":
		return a.reasons(who)
	case "process":
		return a.processes(who)
	case "suspension":
		return a.suspensions(who)
	case "finalized":
		return a.finalized(who)
	}
	return a.collections(who)
}

func (a *gcAnswer) several() bool { return len(a.res.Runtimes) > 1 }

// collections lists the collections, the longest pause first.
func (a *gcAnswer) collections(who *names) *table {
	t := newTable(append(processColumns(a.several()), idColumn("number"), label("name"), idColumn("generation").forPrograms(), label("kind").spared(6), label("reason"),
		moment("startMs"), msColumn("suspendMs").spared(5), msColumn("pauseMs"), msColumn("durationMs").spared(4), mbColumn("beforeMB").spared(2), mbColumn("afterMB"),
		mbColumn("promotedMB").spared(3), mbColumn("allocatedMB").spared(1), counted("heaps").forPrograms())...)
	type row struct {
		pid int64
		*gc.GC
	}
	var rows []row
	for _, rt := range a.res.Runtimes {
		for _, g := range rt.GCs {
			rows = append(rows, row{rt.PID, g})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.PauseMS.Or(-1), a.PauseMS.Or(-1)) })
	for _, g := range rows {
		number, generation := "", ""
		if g.Number != 0 {
			number = whole(g.Number)
		}
		if !g.Generation.IsZero() {
			generation = whole(int(g.Generation))
		}
		t.add(append(who.processCells(g.pid), number, g.Name, generation, string(g.Kind), g.Reason,
			exact(g.StartMS), maybe(g.SuspendMS), maybe(g.PauseMS), maybe(g.DurationMS), maybe(g.BeforeMB), maybe(g.AfterMB),
			maybe(g.PromotedMB), maybe(g.AllocatedMB), whole(g.Heaps))...)
	}
	return t
}

// generations sums up by generation.
func (a *gcAnswer) generations(who *names) *table {
	t := newTable(append(processColumns(a.several()), rollupColumns(label("generation"))...)...)
	for _, rt := range a.res.Runtimes {
		if rt.Count == 0 {
			continue
		}
		for _, r := range append(slices.Clone(rt.ByGeneration), rt.All) {
			generation := "all"
			if !r.Generation.IsZero() {
				generation = whole(int(r.Generation))
			}
			t.add(append(who.processCells(rt.PID), rollupCells(generation, &r)...)...)
		}
	}
	return t
}

// rollupColumns are the columns of sums over collections.
func rollupColumns(first column) []column {
	return []column{first, counted("count"), counted("background").spared(5), counted("foreground").spared(4), counted("induced").spared(3), msColumn("totalMs"), msColumn("meanMs"),
		msColumn("p50Ms").forPrograms(), msColumn("p95Ms"), msColumn("p99Ms").forPrograms(), msColumn("maxMs"), mbColumn("maxPeakMB").spared(2),
		mbColumn("allocatedMB"), mbColumn("promotedMB").spared(1)}
}

func rollupCells(first string, r *gc.Rollup) []string {
	p := &r.PauseMS
	return []string{first, whole(r.Count), whole(r.Background), whole(r.Foreground), whole(r.Induced), exact(p.Total), maybe(p.Mean),
		maybe(p.P50), maybe(p.P95), maybe(p.P99), maybe(p.Max), maybe(r.MaxPeakMB), exact(r.AllocatedMB), exact(r.PromotedMB)}
}

// reasons sums up by why collections were made.
func (a *gcAnswer) reasons(who *names) *table {
	t := newTable(append(processColumns(a.several()), label("reason"), counted("count"), msColumn("totalMs"), msColumn("meanMs"), msColumn("maxMs"))...)
	for _, rt := range a.res.Runtimes {
		pauses := map[string][]float64{}
		for _, g := range rt.GCs {
			if g.Complete() {
				pauses[g.Reason] = append(pauses[g.Reason], g.PauseMS.Or(0))
			}
		}
		rows := make([][]string, 0, len(pauses))
		for reason, list := range pauses {
			s := quantity.Summarize(list)
			rows = append(rows, append(who.processCells(rt.PID), reason, whole(s.Count), exact(s.Total), maybe(s.Mean), maybe(s.Max)))
		}
		slices.SortFunc(rows, func(a, b []string) int {
			return cmp.Or(-compareCell(a[4], b[4], true), cmp.Compare(a[2], b[2]))
		})
		t.rows = append(t.rows, rows...)
	}
	return t
}

// processes lists the runtimes, the longest pauses first.
func (a *gcAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("count"), counted("background").spared(4), msColumn("pauseMs"), measured("pausePercent", 2), msColumn("meanMs").spared(2),
		msColumn("maxMs"), mbColumn("maxPeakMB").spared(1), mbColumn("allocatedMB"), mbColumn("promotedMB").spared(5), counted("heaps").spared(3))...)
	list := slices.Clone(a.res.Runtimes)
	slices.SortStableFunc(list, func(a, b *gc.Runtime) int { return cmp.Compare(b.PauseMS, a.PauseMS) })
	for _, rt := range list {
		t.add(append(who.processCells(rt.PID), whole(rt.Count), whole(rt.All.Background), exact(rt.PauseMS), maybe(rt.PausePercent), maybe(rt.All.PauseMS.Mean),
			maybe(rt.All.PauseMS.Max), maybe(rt.All.MaxPeakMB), exact(rt.All.AllocatedMB), exact(rt.All.PromotedMB), whole(rt.MaxHeaps))...)
	}
	return t
}

// suspensions sums up by why threads were stopped.
func (a *gcAnswer) suspensions(who *names) *table {
	t := newTable(append(processColumns(a.several()), label("reason"), counted("count"), msColumn("totalMs"), msColumn("maxMs"), msColumn("suspendMs"))...)
	for _, rt := range a.res.Runtimes {
		for _, r := range rt.Suspensions.ByReason {
			t.add(append(who.processCells(rt.PID), r.Reason, whole(r.Count), exact(r.TotalMS), exact(r.MaxMS), exact(r.SuspendMS))...)
		}
	}
	return t
}

// finalized lists the types of finalized objects.
func (a *gcAnswer) finalized(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), label("type"))...)
	for _, rt := range a.res.Runtimes {
		for _, f := range rt.FinalizedTypes {
			t.add(append(who.processCells(rt.PID), whole(f.Count), f.Type)...)
		}
	}
	return t
}
