package gc

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: its collections, and sums of them.
func (r *Result) Tables() []table.View {
	return []table.View{r.collections(), r.generations(), r.reasons(), r.processes(), r.suspensions(), r.finalized(), r.allocWaits(), r.tuning()}
}

// collections lists the collections, the longest pause first.
func (r *Result) collections() table.View {
	of := func(rt *Runtime) []*GC { return rt.GCs }
	return table.Each("collection", "All collections", r.Runtimes, (*Runtime).pid, of, append(collectionColumns(), collectionDetails()...)...).Sorted("pauseMs")
}

func collectionColumns() []table.Column[*GC] {
	return []table.Column[*GC]{
		table.ID("number", func(g *GC) uint32 { return g.Number }).Positive().As("No.").Helped("number of the collection in its process"),
		table.Text("name", func(g *GC) string { return g.Name }).Helped("generation, N for blocking, B for background, F for foreground, and I if it was induced"),
		table.ID("generation", func(g *GC) Generation { return g.Generation }).Natural().For(table.Programs).Helped("generation that was collected"),
		table.Text("kind", func(g *GC) string { return string(g.Kind) }).Spared(6).Helped("blocking, background, or foreground: while a background one is under way"),
		table.Text("reason", func(g *GC) string { return g.Reason }).Helped("what caused it"),
		table.Moment("startMs", func(g *GC) float64 { return g.StartMS }).Helped("when the threads were asked to stop"),
		table.Amount("suspendMs", func(g *GC) measure.Float { return g.SuspendMS }).Spared(5).Helped("how long it took to stop them"),
		table.Amount("pauseMs", func(g *GC) measure.Float { return g.PauseMS }).Helped("how long the threads stood still"),
		table.Amount("durationMs", func(g *GC) measure.Float { return g.DurationMS }).Spared(4).Helped("from begin to end"),
		table.Amount("beforeMB", func(g *GC) measure.Float { return g.BeforeMB }).Spared(2).Helped("size of the heap before"),
		table.Amount("afterMB", func(g *GC) measure.Float { return g.AfterMB }).Helped("size of the heap after"),
		table.Amount("promotedMB", func(g *GC) measure.Float { return g.PromotedMB }).Spared(3).Helped("survivors, or what a background collection marked"),
		table.Amount("allocatedMB", func(g *GC) measure.Float { return g.AllocatedMB }).Spared(1).Helped("allocated since the collection before"),
		table.Count("heaps", func(g *GC) int { return g.Heaps }).For(table.Programs),
	}
}

// collectionDetails are the columns of interest where there are few collections.
func collectionDetails() []table.Column[*GC] {
	list := []table.Column[*GC]{
		table.Flag("complete", (*GC).Complete),
		table.Flag("induced", func(g *GC) bool { return g.Induced }),
		table.Amount("allocationRateMBPerSec", func(g *GC) measure.Float { return g.AllocationRateMBPerSec }),
		table.Amount("initialPauseMs", func(g *GC) measure.Float { return g.InitialPauseMS }),
		table.Amount("finalPauseMs", func(g *GC) measure.Float { return g.FinalPauseMS }),
		table.Amount("pausePercent", func(g *GC) measure.Float { return g.PausePercent }).To(2).As("Paused since the last pause"),
		table.Amount("peakMB", func(g *GC) measure.Float { return g.PeakMB }).As("Largest heap"),
		table.Amount("cpuMs", func(g *GC) measure.Float { return g.CPUMS }).As("Processor time"),
		table.Amount("pinnedObjects", func(g *GC) measure.Float { return g.PinnedObjects }).To(0),
		table.Amount("finalizableMB", func(g *GC) measure.Float { return g.FinalizableMB }).As("Survived to be finalized"),
		table.Amount("handles", func(g *GC) measure.Float { return g.Handles }).To(0),
		table.Amount("syncBlocks", func(g *GC) measure.Float { return g.SyncBlocks }).To(0),
		table.Amount("memoryLoadPercent", func(g *GC) measure.Float { return g.MemoryLoadPercent }).To(0),
		table.Text("compacting", func(g *GC) string {
			if g.Compacting == nil {
				return ""
			}
			return map[bool]string{true: "yes", false: "no"}[*g.Compacting]
		}),
		table.Text("pauseMode", func(g *GC) string { return g.PauseMode }),
		table.Text("mechanisms", func(g *GC) string { return g.Mechanisms }),
		table.Text("condemned", (*GC).why).As("Why this generation"),
		table.Text("phases", (*GC).phases),
		table.Text("remarks", (*GC).remarks),
	}
	for i := range list {
		list[i] = list[i].For(table.Details)
	}
	return list
}

// why says why a collection was one of its generation.
func (g *GC) why() string {
	c := g.Condemned
	if c == nil {
		return ""
	}
	var parts []string
	if c.Budget > 0 || c.Budget == g.Generation {
		parts = append(parts, fmt.Sprintf("the budget of generation %d was used up", c.Budget))
	}
	if c.Time > 0 {
		parts = append(parts, fmt.Sprintf("it was time for generation %d", c.Time))
	}
	return strings.Join(append(parts, c.Conditions...), ", ")
}

// phases lists how long the phases of a collection took.
func (g *GC) phases() string {
	t := g.Times
	if t == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		name string
		us   measure.Float
	}{
		{"mark roots", t.MarkRootsUS}, {"short weak handles", t.ShortWeakUS}, {"finalization", t.ScanFinalizationUS}, {"long weak handles", t.LongWeakUS},
		{"plan", t.PlanUS}, {"relocate", t.RelocateUS}, {"compact", t.CompactUS}, {"sweep", t.SweepUS},
	} {
		if us, ok := p.us.Get(); ok {
			parts = append(parts, fmt.Sprintf("%s %.3f ms", p.name, us/1000))
		}
	}
	return strings.Join(parts, ", ")
}

// remarks names the missing parts of a collection, and the like.
func (g *GC) remarks() string {
	var parts []string
	for _, r := range []struct {
		is   bool
		text string
	}{
		{g.Partial, "it began before the trace"},
		{g.Unfinished, "it had not finished when the trace ended"},
		{g.SuspensionMissing, "its suspension is not in the trace, so that the pause is the duration"},
		{g.DoneBlocking, "it ended before any thread went on"},
		{g.AllocatedByTicks, "what was allocated is the sum of allocation ticks"},
	} {
		if r.is {
			parts = append(parts, r.text)
		}
	}
	return strings.Join(parts, "; ")
}

// generations sums up by generation.
func (r *Result) generations() table.View {
	of := func(rt *Runtime) []*Rollup {
		if rt.Count == 0 {
			return nil
		}
		return append(table.Refs(rt.ByGeneration), &rt.All)
	}
	return table.Each("generation", "By generation", r.Runtimes, (*Runtime).pid, of,
		table.Text("generation", func(g *Rollup) string {
			if g.Generation.IsZero() {
				return "all"
			}
			return strconv.Itoa(int(g.Generation))
		}),
		table.Count("count", func(g *Rollup) int { return g.Count }).As("Collections"),
		table.Count("background", func(g *Rollup) int { return g.Background }).Spared(5),
		table.Count("foreground", func(g *Rollup) int { return g.Foreground }).Spared(4),
		table.Count("induced", func(g *Rollup) int { return g.Induced }).Spared(3),
		table.Amount("totalMs", func(g *Rollup) float64 { return g.PauseMS.Total }).As("Pauses"),
		table.Amount("meanMs", func(g *Rollup) measure.Float { return g.PauseMS.Mean }),
		table.Amount("p50Ms", func(g *Rollup) measure.Float { return g.PauseMS.P50 }).For(table.Programs),
		table.Amount("p95Ms", func(g *Rollup) measure.Float { return g.PauseMS.P95 }),
		table.Amount("p99Ms", func(g *Rollup) measure.Float { return g.PauseMS.P99 }).For(table.Programs),
		table.Amount("maxMs", func(g *Rollup) measure.Float { return g.PauseMS.Max }).As("Longest"),
		table.Amount("maxPeakMB", func(g *Rollup) measure.Float { return g.MaxPeakMB }).Spared(2).As("Peak"),
		table.Amount("allocatedMB", func(g *Rollup) measure.Float { return g.AllocatedMB }),
		table.Amount("promotedMB", func(g *Rollup) float64 { return g.PromotedMB }).Spared(1))
}

// reasons sums up by why collections were made.
func (r *Result) reasons() table.View {
	type row struct {
		reason string
		measure.Summary
	}
	of := func(rt *Runtime) []*row {
		pauses := map[string][]float64{}
		for _, g := range rt.GCs {
			if g.Complete() {
				pauses[g.Reason] = append(pauses[g.Reason], g.PauseMS.Or(0))
			}
		}
		rows := make([]*row, 0, len(pauses))
		for reason, list := range pauses {
			rows = append(rows, &row{reason, measure.Summarize(list)})
		}
		order.Sort(rows, func(a, b *row) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.reason, b.reason)) })
		return rows
	}
	return table.Each("reason", "By reason", r.Runtimes, (*Runtime).pid, of,
		table.Text("reason", func(x *row) string { return x.reason }),
		table.Count("count", func(x *row) int { return x.Count }).As("Collections"),
		table.Amount("totalMs", func(x *row) float64 { return x.Total }),
		table.Amount("meanMs", func(x *row) measure.Float { return x.Mean }),
		table.Amount("maxMs", func(x *row) measure.Float { return x.Max }).As("Longest")).Ordered("totalMs")
}

// processes lists the runtimes, the longest pauses first.
func (r *Result) processes() table.View {
	return table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid,
		table.Count("count", func(rt *Runtime) int { return rt.Count }).As("Collections"),
		table.Count("background", func(rt *Runtime) int { return rt.All.Background }).Spared(4),
		table.Amount("pauseMs", func(rt *Runtime) float64 { return rt.PauseMS }),
		table.Amount("pausePercent", func(rt *Runtime) measure.Float { return rt.PausePercent }).To(2),
		table.Amount("meanMs", func(rt *Runtime) measure.Float { return rt.All.PauseMS.Mean }).Spared(2),
		table.Amount("maxMs", func(rt *Runtime) measure.Float { return rt.All.PauseMS.Max }).As("Longest"),
		table.Amount("maxPeakMB", func(rt *Runtime) measure.Float { return rt.All.MaxPeakMB }).Spared(1).As("Peak"),
		table.Amount("allocatedMB", func(rt *Runtime) measure.Float { return rt.AllocatedMB }),
		table.Text("allocatedBy", func(rt *Runtime) string { return rt.AllocatedBy }).For(table.Programs),
		table.Amount("promotedMB", func(rt *Runtime) float64 { return rt.All.PromotedMB }).Spared(5),
		table.Count("heaps", func(rt *Runtime) int { return rt.MaxHeaps }).Spared(3)).Sorted("pauseMs")
}

// suspensions sums up by why threads were stopped.
func (r *Result) suspensions() table.View {
	of := func(rt *Runtime) []*SuspensionReason { return table.Refs(rt.Suspensions.ByReason) }
	return table.Each("suspension", "Suspensions of all threads", r.Runtimes, (*Runtime).pid, of,
		table.Text("reason", func(s *SuspensionReason) string { return s.Reason }),
		table.Flag("gc", func(s *SuspensionReason) bool { return s.GC }).As("For collections").For(table.Details),
		table.Count("count", func(s *SuspensionReason) int { return s.Count }).As("Suspensions"),
		table.Amount("totalMs", func(s *SuspensionReason) float64 { return s.TotalMS }),
		table.Amount("maxMs", func(s *SuspensionReason) float64 { return s.MaxMS }).As("Longest"),
		table.Amount("suspendMs", func(s *SuspensionReason) float64 { return s.SuspendMS }).As("Until all stood"),
		table.Amount("restartMs", func(s *SuspensionReason) float64 { return s.RestartMS }).As("Letting go")).
		Saying("What is marked makes up the pauses for collections. Sampling by EventPipe stops threads with the reason SuspendOther.")
}

// finalized lists the types of finalized objects.
func (r *Result) finalized() table.View {
	of := func(rt *Runtime) []*TypeCount { return table.Refs(rt.FinalizedTypes) }
	return table.Each("finalized", "Finalized objects by type", r.Runtimes, (*Runtime).pid, of,
		table.Count("count", func(c *TypeCount) uint64 { return c.Count }).As("Objects"),
		table.Text("type", func(c *TypeCount) string { return c.Type }).About()).Ordered("count")
}

// tuning lists the decisions of server GC about its heaps.
func (r *Result) tuning() table.View {
	of := func(rt *Runtime) []*Tuning { return table.Refs(rt.Tuning) }
	return table.Each("tuning", "Heaps and budgets of server GC over time", r.Runtimes, (*Runtime).pid, of,
		table.Moment("atMs", func(t *Tuning) float64 { return t.AtMS }),
		table.ID("gcIndex", func(t *Tuning) uint64 { return t.GCIndex }).As("Collection"),
		table.Amount("heaps", func(t *Tuning) measure.Float { return t.Heaps }).To(0).Helped("to have from then on"),
		table.Amount("minHeaps", func(t *Tuning) measure.Float { return t.MinHeaps }).To(0).Spared(1),
		table.Amount("maxHeaps", func(t *Tuning) measure.Float { return t.MaxHeaps }).To(0).Spared(2),
		table.Amount("budgetMB", func(t *Tuning) measure.Float { return t.BudgetMB }).Helped("what each heap may allocate in generation 0 until the next collection"),
		table.Amount("stableMB", func(t *Tuning) measure.Float { return t.StableMB }).Helped("what survives"),
		table.Amount("costPercent", func(t *Tuning) measure.Float { return t.CostPercent }).To(2).Helped("median share of time that collections took lately")).Ordered("atMs")
}

// allocWaits lists the waits for memory.
func (r *Result) allocWaits() table.View {
	of := func(rt *Runtime) []*AllocationWait { return table.Refs(rt.AllocWaits) }
	return table.Each("wait", "Waits to allocate large objects during background collections", r.Runtimes, (*Runtime).pid, of,
		table.Moment("startMs", func(w *AllocationWait) float64 { return w.StartMS }),
		table.Amount("durationMs", func(w *AllocationWait) float64 { return w.DurationMS }),
		table.ID("tid", func(w *AllocationWait) int64 { return w.Thread }),
		table.Text("reason", func(w *AllocationWait) string { return w.Reason })).Sorted("durationMs").OnPages()
}
