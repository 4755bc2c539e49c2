package ask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/gc"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewGC returns the command that shows garbage collections.
func NewGC() *Question {
	return &Question{
		name:  "gc",
		short: "Show garbage collections and their pauses",
		Long: `Gc shows the garbage collections of .NET programs: how long threads were stopped
for them, the generation and the cause, and how large the heap was. A pause lasts from
the request to stop the threads until they run again; those of background collections
are added up.

The rows are collections, the longest pause first, or by --by: generations,
reasons of collections, processes, reasons of suspensions, types of finalized
objects, or the tuning of server GC: how many heaps, with which budgets, over time.

With -p, --name or --port it is about a live process: each collection is a line as it
ends, with the percentiles of the pauses so far, up to the last 10,000.`,
		example: `  etw gc gc.nettrace
  etw gc --top 5 --sort promotedMB gc.nettrace
  etw gc --by generation --format md gc.nettrace
  etw gc --by suspension gc.nettrace
  etw gc --format csv --sort startMs gc.nettrace
  etw gc --format json gc.nettrace | jq '.runtimes[].pauseMs'
  etw gc -p 1234 --duration 10m`,
		next: []show.Suggestion{
			show.Next("etw allocs", "which types are allocated"),
			show.Next("etw top --of allocs", "which code allocates"),
			show.Next("etw gc --by suspension", "why threads were stopped"),
		},
		views: viewsOf(new(gc.Result)),
		clips: true,
		stays: true,
		Needs: gc.Needs,
		ask: func(mux *etw.Mux) answer {
			return &viewed[*gc.Result]{find: gc.New(mux).Result, any: anyGC, facts: gcTotals}
		},
	}
}

// anyGC reports whether there is anything: allocation ticks have the keyword of collections,
// so that these were recorded, too, and none is an answer.
func anyGC(res *gc.Result) bool {
	return slices.ContainsFunc(res.Runtimes, func(rt *gc.Runtime) bool { return rt.Count > 0 || rt.PauseMS > 0 || rt.TickedMB > 0 })
}

func gcTotals(p *page, res *gc.Result) {
	if len(res.Runtimes) > fewRuntimes && p.by != "process" {
		p.title(fmt.Sprintf("%d runtimes", len(res.Runtimes)))
		p.small(viewOf(res, "process", p.names))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		gcFacts(p, rt)
	}
	if p.by != "generation" {
		p.small(viewOf(res, "generation", p.names))
	}
}

// gcFacts prints the facts about the collections of a runtime.
func gcFacts(p *page, rt *gc.Runtime) {
	p.line("collections", "%s", gcCounts(rt))
	if n := rt.NumbersBefore; n > 0 {
		p.line("before the first", "%d by their numbers: earlier than the recording or the time asked for, or used up by regions without collections", n)
	}
	restart := ""
	if 100*rt.RestartMS > rt.PauseMS {
		restart = fmt.Sprintf("; %s of it to let threads go, of which the runtime's own count has less", show.MS(rt.RestartMS))
	}
	p.line("pauses", "%s, %s of %.3f s%s", show.MS(rt.PauseMS), show.PercentOf(rt.PausePercent), rt.SpanMS/1000, restart)
	if rt.All.PauseMS.Count > 0 {
		s := rt.All.PauseMS
		p.line("of a collection", "mean %s, median %s, p95 %s, p99 %s, longest %s", show.MSOf(s.Mean), show.MSOf(s.P50), show.MSOf(s.P95), show.MSOf(s.P99), show.MSOf(s.Max))
	}
	if rt.All.Count > 0 {
		last := rt.GCs[len(rt.GCs)-1]
		p.line("heap", "%s at most, %s after collections on average, %s after the last one", show.SizeOfMB(rt.All.MaxPeakMB), show.SizeOfMB(rt.All.MeanAfterMB), show.SizeOfMB(last.AfterMB))
		p.line("allocated", "%s; %s promoted", gcAllocated(rt), show.Size(rt.All.PromotedMB*1e6))
	} else if rt.TickedMB > 0 {
		p.line("allocated", "%s", gcAllocated(rt))
	}
	p.line("collector", "%s", collector(rt))
	if !rt.GCCPUMS.IsZero() {
		p.line("processor", "%s for collections, of %s", show.MSOf(rt.GCCPUMS), show.MSOf(rt.CPUMS))
	}
	var others []string
	for _, r := range rt.Suspensions.ByReason {
		if !r.GC {
			others = append(others, fmt.Sprintf("%d for %s, %s%s", r.Count, r.Reason, show.MS(r.TotalMS), whyStopped(r.Reason)))
		}
	}
	p.line("other stops", "%s", strings.Join(others, "; "))
	if f := rt.Finalizers; f != nil {
		p.line("finalizers", "%s in %s, %s", show.Count(f.Count, "was run", "were run"), show.Count(f.Runs, "pass", "passes"), show.MS(f.MS))
	}
	if n := len(rt.AllocWaits); n > 0 {
		p.line("waits", "%s for memory during a background collection", show.Count(n, "long wait", "long waits"))
	}
}

// gcAllocated says how much a program allocated, and how that is known.
func gcAllocated(rt *gc.Runtime) string {
	text := show.SizeOfMB(rt.AllocatedMB) + " by allocation ticks"
	switch {
	case rt.AllocatedMB.IsZero():
		return "unknown: the trace does not tell"
	case rt.AllocatedBy == "collections":
		text = "about " + show.SizeOfMB(rt.AllocatedMB)
		if rt.All.Background > 0 { // what fits into memory that they free is not seen
			text += " or more"
		}
		if len(rt.GCs) > 0 && rt.GCs[0].AllocatedMB.IsZero() { // what was there before, nobody tells
			text += " from the first collection to the last, as collections found it"
		} else {
			text += " until the last collection, as collections found it"
		}
		if after := rt.TickedAfterMB; !after.IsZero() {
			text += " (ticks say " + show.SizeOfMB(after) + " after it, but runtimes before .NET 5 count wrongly in them)"
		}
	case rt.AllocatedBy == "collections and ticks":
		text = "about " + show.SizeOfMB(rt.AllocatedMB) + ", as collections found it, and by ticks after the last one"
	}
	if v, ok := quantity.Ratio(quantity.Known(1000*rt.All.AllocatedByHistoriesMB), rt.FirstToLastMS).Get(); ok && v > 0 {
		text += ", " + show.Size(v*1e6) + "/s from the first to the last"
	}
	return text
}

// whyStopped names the cause of a suspension that is not for collections.
func whyStopped(reason string) string {
	if reason == "SuspendOther" {
		return " (of a recording with samples of threads, it is the price of taking these; else the runtime itself)"
	}
	return ""
}

// gcCounts says how many collections of which kinds there were.
func gcCounts(rt *gc.Runtime) string {
	parts := each.Of(rt.ByGeneration, func(g gc.Rollup) string { return fmt.Sprintf("%d of generation %d", g.Count, g.Generation) })
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
	case rt.MinHeaps < rt.MaxHeaps:
		parts = append(parts, fmt.Sprintf("%d heaps at the end, %d at least: see --by tuning", rt.Heaps, rt.MinHeaps))
	case rt.Heaps > 0:
		parts = append(parts, show.Count(rt.Heaps, "heap", "heaps"))
	}
	if s := rt.Settings; s != nil {
		parts = append(parts, map[bool]string{false: "not concurrent", true: "concurrent"}[s.Concurrent])
		if s.HardLimitBytes > 0 {
			parts = append(parts, "hard limit "+show.Size(float64(s.HardLimitBytes)))
		}
	}
	return strings.Join(parts, ", ")
}
