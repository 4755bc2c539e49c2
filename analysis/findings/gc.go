package findings

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// GC returns the findings in the collections of a runtime.
func GC(r *gc.Runtime) []Finding {
	f := &finder{part: "gc"}
	if p, ok := r.PausePercent.Get(); ok && r.Count > 0 && p >= somePaused {
		f.add("gc.paused", atLeast(p, muchPaused, Problem, Look), "Collections stopped the program for %s of the time: %s in %s.",
			share("pausePercent", p), span("pauseMs", r.PauseMS), span("spanMs", r.SpanMS))
	}
	if g, ms := longest(r.GCs, func(g *gc.GC) measure.Float { return g.PauseMS }); g != nil {
		f.add("gc.longestPause", atLeast(ms, longPause, Problem, Note), "The longest pause was %s, at %s, for %s.",
			span("pauseMs", ms), moment("startMs", g.StartMS), describe(g))
	}
	if g, ms := longest(r.GCs, func(g *gc.GC) measure.Float { return g.SuspendMS }); ms >= slowSuspend {
		f.add("gc.slowSuspend", Look, "Before the collection at %s it took %s until all threads stood still: one of them was slow to stop.",
			moment("startMs", g.StartMS), span("suspendMs", ms))
	}
	f.reasons(r)
	f.grows(r.GCs)
	for _, reason := range r.Suspensions.ByReason {
		if !reason.GC && reason.TotalMS > r.PauseMS && reason.TotalMS >= leastPaused {
			f.add("gc.otherSuspension", atLeast(measure.Ratio(measure.Known(100*reason.TotalMS), measure.Known(r.SpanMS)).Or(0), muchPaused, Look, Note), "Threads were stopped for another reason, too: %s, %s times, for %s. If the trace has samples, this is the cost of sampling, and methods have that time.",
				reason.Reason, number("count", reason.Count), span("totalMs", reason.TotalMS))
		}
	}
	return f.list
}

// reasons finds collections that could be avoided.
func (f *finder) reasons(r *gc.Runtime) {
	if n := r.All.Induced; n > 0 {
		f.add("gc.induced", Look, "%s induced, by the program itself (GC.Collect and the like) or by a tool.", things("induced", n, "collection was", "collections were"))
	}
	var fullBlocking, large int
	for _, g := range r.GCs {
		if g.Generation == 2 && g.Kind == gc.Blocking && !g.Induced {
			fullBlocking++
		}
		if g.Reason == "AllocLarge" {
			large++
		}
	}
	many := func(n int) bool { return r.Count >= enoughGCs && float64(n) >= manyOfKind*float64(r.Count) }
	all := things("count", r.Count, "collection", "collections")
	if many(fullBlocking) {
		f.add("gc.fullBlocking", Look, "%s of %s were full and blocking, though nobody induced them: look at their reasons.", number("fullBlocking", fullBlocking), all)
	}
	if many(large) {
		f.add("gc.largeObjects", Look, "Large objects caused %s of %s: look for arrays that could be kept and used again.", number("allocLarge", large), all)
	}
}

// grows tells of a heap of which full collections leave more each time, until the last.
func (f *finder) grows(gcs []*gc.GC) {
	var first, last, middle, before *gc.GC
	full := 0
	for _, g := range gcs {
		mb, ok := g.AfterMB.Get()
		if g.Generation != 2 || !g.Complete() || !ok {
			continue
		}
		if full++; full == 1 {
			first = g
		} else if mb < last.AfterMB.Or(0)*stillGrown {
			return
		}
		before, last = last, g
		if middle == nil || g.StartMS <= (first.StartMS+gcs[len(gcs)-1].StartMS)/2 {
			middle = g
		}
	}
	if full < enoughFull {
		return
	}
	from, to, half := first.AfterMB.Or(0), last.AfterMB.Or(0), middle.AfterMB.Or(0)
	step := (to - from) / float64(full) // the last one adds to it, too
	if to-from < max(leastGrown, from/2) || to-half < (to-from)/4 || to-before.AfterMB.Or(0) < step/4 {
		return
	}
	f.add("gc.heapGrows", Look, "%s left more and more: %s at %s, %s at %s. The program keeps it, on purpose or not; two snapshots of the heap tell which types, and who holds them.",
		things("full", full, "full collection", "full collections"), size("afterFirst", 1e6*from), moment("firstMs", first.StartMS), size("afterLast", 1e6*to), moment("lastMs", last.StartMS))
}

// longest returns the collection with the greatest of a number, and the number. There is
// none if no collection has one.
func longest(gcs []*gc.GC, of func(*gc.GC) measure.Float) (best *gc.GC, most float64) {
	for _, g := range gcs {
		if ms, ok := of(g).Get(); ok && g.Complete() && (best == nil || ms > most) {
			best, most = g, ms
		}
	}
	return best, most
}

// describe describes a collection in a sentence.
func describe(g *gc.GC) string {
	text := fmt.Sprintf("collection %d", g.Number)
	if g.Generation >= 0 {
		text += fmt.Sprintf(" (generation %d, %s)", g.Generation, g.Kind)
	}
	if g.Reason != "" {
		text += " because of " + g.Reason
	}
	return text
}

// Alloc names the type of which a runtime allocated most, by the best numbers that there
// are.
func Alloc(r *alloc.Runtime) []Finding {
	f := &finder{part: "alloc"}
	var types []alloc.Type
	switch {
	case r.Samples != nil:
		types = r.Samples.Types
	case r.Ticks != nil:
		types = r.Ticks.Types
	}
	if len(types) > 0 {
		if p, ok := types[0].SharePercent.Get(); ok {
			text := "Most memory was allocated for %s: %s, %s of all."
			if r.Samples == nil && r.Ticks.Old {
				text = "Most memory was allocated for %s, by ticks, which before .NET 5 may be far off: %s, %s of all."
			}
			f.add("alloc.topType", Note, text, types[0].Type, size("bytes", types[0].Bytes), share("sharePercent", p))
		}
	}
	return f.list
}
