package html

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// generationTable sums up the collections by generation.
func generationTable(r *gc.Runtime, texts *texts) *table {
	t := &table{ID: "generations", Title: "By generation", texts: texts}
	var rows []gc.Rollup
	for _, g := range r.ByGeneration {
		if g.Count > 0 {
			rows = append(rows, g)
		}
	}
	all := r.All
	all.Generation = -1
	rows = append(rows, all)
	word(t, rows, column{Key: "generation", Label: "Generation"}, func(g gc.Rollup) string {
		if g.Generation < 0 {
			return "all"
		}
		return fmt.Sprint(g.Generation)
	})
	f := func(key, label, unit string, digits int, value func(gc.Rollup) float64) {
		num(t, rows, column{Key: key, Label: label, Unit: unit, Digits: digits}, value)
	}
	f("count", "Collections", "", 0, func(g gc.Rollup) float64 { return float64(g.Count) })
	f("induced", "Induced", "", 0, func(g gc.Rollup) float64 { return float64(g.Induced) })
	f("background", "Background", "", 0, func(g gc.Rollup) float64 { return float64(g.Background) })
	f("total", "Pauses", "ms", 1, func(g gc.Rollup) float64 { return g.PauseMS.Total })
	f("mean", "Mean", "ms", 2, func(g gc.Rollup) float64 { return orNaN(g.PauseMS.Mean) })
	f("p50", "P50", "ms", 2, func(g gc.Rollup) float64 { return orNaN(g.PauseMS.P50) })
	f("p95", "P95", "ms", 2, func(g gc.Rollup) float64 { return orNaN(g.PauseMS.P95) })
	f("p99", "P99", "ms", 2, func(g gc.Rollup) float64 { return orNaN(g.PauseMS.P99) })
	f("max", "Longest", "ms", 2, func(g gc.Rollup) float64 { return orNaN(g.PauseMS.Max) })
	f("peak", "Peak", "MB", 2, func(g gc.Rollup) float64 { return orNaN(g.MaxPeakMB) })
	f("allocated", "Allocated", "MB", 1, func(g gc.Rollup) float64 { return g.AllocatedMB })
	f("promoted", "Survived", "MB", 1, func(g gc.Rollup) float64 { return g.PromotedMB })
	return t
}

// maxDetailed is how many collections may be there for each to have all details.
const maxDetailed = 25_000

// collectionTable lists all collections.
func collectionTable(gcs []*gc.GC, texts *texts) *table {
	t := &table{ID: "collections", Title: "All collections", Time: "start", texts: texts}
	f := func(key, label, unit string, digits int, help string, value func(*gc.GC) measure.Float) {
		num(t, gcs, column{Key: key, Label: label, Unit: unit, Digits: digits, Help: help}, func(g *gc.GC) float64 { return orNaN(value(g)) })
	}
	w := func(key, label, help string, value func(*gc.GC) string) {
		word(t, gcs, column{Key: key, Label: label, Help: help}, value)
	}
	num(t, gcs, column{Key: "number", Label: "No.", Help: "number of the collection in its process", ID: true}, func(g *gc.GC) float64 { return float64(g.Number) })
	f("start", "Start", "s", 6, "when the threads were asked to stop", func(g *gc.GC) measure.Float { return measure.Known(g.StartMS / 1000) })
	f("gen", "Gen", "", 0, "generation that was collected", func(g *gc.GC) measure.Float {
		if g.Generation < 0 {
			return measure.Float{}
		}
		return measure.Known(float64(g.Generation))
	})
	w("kind", "Kind", "blocking, background, or foreground: while a background one is under way", func(g *gc.GC) string { return string(g.Kind) })
	w("reason", "Reason", "what caused it", func(g *gc.GC) string { return g.Reason })
	f("pause", "Pause", "ms", 4, "how long the threads stood still", func(g *gc.GC) measure.Float { return g.PauseMS })
	f("suspend", "Suspend", "ms", 4, "how long it took to stop them", func(g *gc.GC) measure.Float { return g.SuspendMS })
	f("before", "Before", "MB", 3, "size of the heap before", func(g *gc.GC) measure.Float { return g.BeforeMB })
	f("after", "After", "MB", 3, "size of the heap after", func(g *gc.GC) measure.Float { return g.AfterMB })
	f("promoted", "Survived", "MB", 3, "what survived it, or what a background collection marked", func(g *gc.GC) measure.Float { return g.PromotedMB })
	f("allocated", "Allocated", "MB", 3, "what was allocated since the collection before", func(g *gc.GC) measure.Float { return g.AllocatedMB })
	f("rate", "Rate", "MB/s", 1, "allocated by time", func(g *gc.GC) measure.Float { return g.AllocationRateMBPerSec })
	if len(gcs) <= maxDetailed {
		collectionDetails(t, gcs)
	} else {
		t.Lead = "Details of each are left out, since there are so many."
	}
	return t
}

// collectionDetails adds what is shown when a row is opened.
func collectionDetails(t *table, gcs []*gc.GC) {
	first := len(t.Columns)
	f := func(key, label, unit string, digits int, value func(*gc.GC) measure.Float) {
		num(t, gcs, column{Key: key, Label: label, Unit: unit, Digits: digits, Detail: true}, func(g *gc.GC) float64 { return orNaN(value(g)) })
	}
	w := func(key, label string, value func(*gc.GC) string) {
		word(t, gcs, column{Key: key, Label: label, Detail: true}, value)
	}
	w("name", "Short name", func(g *gc.GC) string { return g.Name })
	f("duration", "Duration", "ms", 4, func(g *gc.GC) measure.Float { return g.DurationMS })
	f("initial", "Initial pause", "ms", 4, func(g *gc.GC) measure.Float { return g.InitialPauseMS })
	f("final", "Final pause", "ms", 4, func(g *gc.GC) measure.Float { return g.FinalPauseMS })
	f("paused", "Paused since the last pause", "%", 2, func(g *gc.GC) measure.Float { return g.PausePercent })
	f("peak", "Largest heap", "MB", 3, func(g *gc.GC) measure.Float { return g.PeakMB })
	f("cpu", "Processor time", "ms", 3, func(g *gc.GC) measure.Float { return g.CPUMS })
	f("pinned", "Pinned objects", "", 0, func(g *gc.GC) measure.Float { return g.PinnedObjects })
	f("finalizable", "Survived to be finalized", "MB", 3, func(g *gc.GC) measure.Float { return g.FinalizableMB })
	f("handles", "Handles", "", 0, func(g *gc.GC) measure.Float { return g.Handles })
	f("sync", "Sync blocks", "", 0, func(g *gc.GC) measure.Float { return g.SyncBlocks })
	f("load", "Memory load", "%", 0, func(g *gc.GC) measure.Float { return g.MemoryLoadPercent })
	f("heaps", "Heaps", "", 0, func(g *gc.GC) measure.Float {
		if g.Heaps == 0 {
			return measure.Float{}
		}
		return measure.Known(float64(g.Heaps))
	})
	w("compacting", "Compacting", func(g *gc.GC) string {
		if g.Compacting == nil {
			return ""
		}
		return map[bool]string{true: "yes", false: "no"}[*g.Compacting]
	})
	w("mode", "Pause mode", func(g *gc.GC) string { return g.PauseMode })
	w("mechanisms", "Mechanisms", func(g *gc.GC) string { return g.Mechanisms })
	w("why", "Why this generation", whyGeneration)
	w("phases", "Phases", phases)
	w("remarks", "Remarks", remarks)
	t.Columns = append(t.Columns[:first], dropEmpty(t.Columns[first:])...)
	if g := sizesGrid(gcs); g != nil {
		t.Grids = append(t.Grids, g)
	}
}

// dropEmpty leaves out columns that have nothing.
func dropEmpty(columns []*column) []*column {
	var kept []*column
	for _, c := range columns {
		if c.hasAny() {
			kept = append(kept, c)
		}
	}
	return kept
}

// hasAny reports whether a column has anything.
func (c *column) hasAny() bool {
	if c.Numbers != nil {
		for _, v := range c.Numbers.values {
			if v == v {
				return true
			}
		}
		return false
	}
	for i := range c.Texts {
		if c.Texts[i] != c.Texts[0] {
			return true
		}
	}
	return len(c.Texts) > 0 && c.Texts[0] != emptyText
}

// whyGeneration says why a collection was one of its generation.
func whyGeneration(g *gc.GC) string {
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
func phases(g *gc.GC) string {
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
			parts = append(parts, p.name+" "+span(us/1000))
		}
	}
	return strings.Join(parts, ", ")
}

// remarks says what is missing of a collection, and the like.
func remarks(g *gc.GC) string {
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

// sizesGrid is what each collection did to each generation.
func sizesGrid(gcs []*gc.GC) *grid {
	g := &grid{Title: "Generations", Rows: generationNames}
	for _, c := range []struct {
		label, unit string
		digits      int
		value       func(*gc.GenerationSizes) measure.Float
	}{
		{"Before", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.BeforeMB }},
		{"After", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.AfterMB }},
		{"Survived", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.PromotedMB }},
		{"Survival", "%", 1, func(s *gc.GenerationSizes) measure.Float { return s.SurvivalPercent }},
		{"Fragmented", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.FragmentationMB }},
		{"Budget", "MB", 3, func(s *gc.GenerationSizes) measure.Float { return s.BudgetMB }},
	} {
		n := &numbers{values: make([]float64, 0, len(gcs)*len(generationNames)), digits: c.digits}
		for _, x := range gcs {
			for gen := range generationNames {
				if gen < len(x.Generations) {
					n.values = append(n.values, orNaN(c.value(&x.Generations[gen])))
				} else {
					n.values = append(n.values, nan)
				}
			}
		}
		col := &column{Key: strings.ToLower(c.label), Label: c.label, Unit: c.unit, Digits: c.digits, Numbers: n}
		if col.hasAny() {
			g.Columns = append(g.Columns, col)
		}
	}
	if len(g.Columns) == 0 {
		return nil
	}
	return g
}

// suspensionTable lists why threads were stopped.
func suspensionTable(r *gc.Runtime, texts *texts) *table {
	t := &table{ID: "suspensions", Title: "Suspensions of all threads", texts: texts,
		Lead: "What is marked makes up the pauses for collections. Sampling by EventPipe stops threads with the reason SuspendOther."}
	rows := r.Suspensions.ByReason
	word(t, rows, column{Key: "reason", Label: "Reason"}, func(s gc.SuspensionReason) string { return s.Reason })
	word(t, rows, column{Key: "gc", Label: "For collections"}, func(s gc.SuspensionReason) string { return yes(s.GC) })
	num(t, rows, column{Key: "count", Label: "Suspensions"}, func(s gc.SuspensionReason) float64 { return float64(s.Count) })
	num(t, rows, column{Key: "total", Label: "Total", Unit: "ms", Digits: 3, Share: true}, func(s gc.SuspensionReason) float64 { return s.TotalMS })
	num(t, rows, column{Key: "max", Label: "Longest", Unit: "ms", Digits: 3}, func(s gc.SuspensionReason) float64 { return s.MaxMS })
	num(t, rows, column{Key: "suspend", Label: "Until all stood", Unit: "ms", Digits: 3}, func(s gc.SuspensionReason) float64 { return s.SuspendMS })
	return t
}

func allocWaitTable(all []gc.AllocationWait, texts *texts) *table {
	t := &table{ID: "allocwaits", Title: "Waits to allocate large objects during background collections", Sort: "duration", Time: "start", texts: texts}
	rows := shown(all)
	num(t, rows, column{Key: "start", Label: "Start", Unit: "s", Digits: 6}, func(w gc.AllocationWait) float64 { return w.StartMS / 1000 })
	num(t, rows, column{Key: "duration", Label: "Duration", Unit: "ms", Digits: 3, Share: true}, func(w gc.AllocationWait) float64 { return w.DurationMS })
	num(t, rows, column{Key: "thread", Label: "Thread", ID: true}, func(w gc.AllocationWait) float64 { return float64(w.Thread) })
	word(t, rows, column{Key: "reason", Label: "Reason"}, func(w gc.AllocationWait) string { return w.Reason })
	cutOff(t, len(all))
	return t
}
