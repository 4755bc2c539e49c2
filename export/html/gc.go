package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
)

// So few collections make a chart, and a half and a 95 % of them a number.
const (
	enoughToDraw = 3
	enoughGCs    = 10
)

// addGC adds the collections.
func addGC(v *view, s *subject, texts *texts) {
	r := s.gc
	if r == nil {
		return
	}
	v.weight += r.Count
	gcs := slices.Clone(r.GCs)
	order.Stable(gcs, func(a, b *gc.GC) int {
		switch {
		case a.StartMS < b.StartMS:
			return -1
		case a.StartMS > b.StartMS:
			return 1
		}
		return 0
	})
	v.gcTiles(r)
	v.add(findings.GC(r))
	sec := &section{ID: "gc", Title: "Garbage collections", Lead: gcLead(r)}
	if len(gcs) >= enoughToDraw {
		sec.Charts = []*chart{pauseChart(gcs), heapChart(gcs), pauseHistogram(r, gcs), rateChart(gcs)}
	}
	for _, t := range (&gc.Result{Runtimes: []*gc.Runtime{r}}).Tables() {
		if t.Name != "collection" {
			sec.show(t, texts)
		} else if len(gcs) > 0 {
			shown := sec.showAll(t.Rising("startMs"), texts)
			if g := sizesGrid(gcs); g != nil && len(gcs) <= maxDetailed {
				shown.Grids = append(shown.Grids, g)
			}
		}
	}
	v.Sections = append(v.Sections, sec)
}

func (v *view) gcTiles(r *gc.Runtime) {
	if r.Count == 0 {
		return
	}
	share := "-"
	if p, ok := r.PausePercent.Get(); ok {
		share = percent(p)
	}
	v.Tiles = append(v.Tiles, tile{"Paused for collections", share, span(r.PauseMS) + " in " + count(r.Count, "collection", "collections"), "gc"})
	if longest, ok := r.All.PauseMS.Max.Get(); ok {
		text := ""
		if r.All.PauseMS.Count >= enoughGCs {
			text = "half under " + span(r.All.PauseMS.P50.Or(0)) + ", 95\u00a0% under " + span(r.All.PauseMS.P95.Or(0))
		}
		v.Tiles = append(v.Tiles, tile{"Longest pause", span(longest), text, "gc"})
	}
	if peak, ok := r.All.MaxPeakMB.Get(); ok {
		note := ""
		if after, ok := r.All.MeanAfterMB.Get(); ok {
			note = size(after*1e6) + " after collections, on average"
		}
		v.Tiles = append(v.Tiles, tile{"Largest heap", size(peak * 1e6), note, "gc"})
	}
	if mb, ok := r.AllocatedMB.Get(); ok {
		note := ""
		if ms, ok := r.FirstToLastMS.Get(); ok && ms > 0 && r.All.AllocatedByHistoriesMB > 0 {
			note = size(r.All.AllocatedByHistoriesMB*1e6/ms*1000) + " a second"
		}
		title := "Allocated"
		if r.AllocatedBy == "collections" {
			title = "Allocated, about"
		}
		v.Tiles = append(v.Tiles, tile{title, size(mb * 1e6), note, "gc"})
	}
}

// gcLead sums up the collections.
func gcLead(r *gc.Runtime) []string {
	if r.Count == 0 {
		return []string{"The trace has suspensions of threads, but no collection."}
	}
	byGen := make([]string, 0, 3)
	for i, g := range r.ByGeneration {
		if g.Count > 0 {
			byGen = append(byGen, fmt.Sprintf("%s of generation %d", grouped(float64(g.Count), 0), i))
		}
	}
	text := count(r.Count, "collection", "collections")
	if len(byGen) > 0 {
		text += ": " + strings.Join(byGen, ", ")
	}
	text += ". All threads stood still for " + span(r.PauseMS)
	if p, ok := r.PausePercent.Get(); ok {
		text += ", " + percent(p) + " of " + span(r.SpanMS)
	}
	lead := []string{text + "."}
	if r.Suspensions.WithoutGC > 0 {
		lead = append(lead, fmt.Sprintf("%s more took %s without a collection in them.", count(r.Suspensions.WithoutGC, "suspension", "suspensions"), span(r.Suspensions.WithoutGCMS)))
	}
	return lead
}

// gcColors are the colours of kinds of collections, in the order of their numbers.
var gcColors = []*series{
	{Label: "Generation 0", Color: "gen0"},
	{Label: "Generation 1", Color: "gen1"},
	{Label: "Generation 2, blocking", Color: "gen2"},
	{Label: "Generation 2, background", Color: "bgc"},
}

// category returns the number of the kind of a collection.
func category(g *gc.GC) int {
	switch {
	case g.Kind == gc.Background:
		return 3
	case g.Generation > 2:
		return 2
	case g.Generation < 0:
		return 0
	}
	return int(g.Generation)
}

func starts(gcs []*gc.GC) *numbers {
	x := each.Of(gcs, func(g *gc.GC) float64 { return g.StartMS })
	return seconds(x)
}

// pauseChart shows the pause of each collection.
func pauseChart(gcs []*gc.GC) *chart {
	c := &chart{ID: "pauses", Kind: scatter, Title: "Pauses", Unit: "ms", X: starts(gcs), Table: "gc-collection",
		Note: "Each point is a collection; a background collection is one point, with the sum of its pauses."}
	y := make([]float64, len(gcs))
	for i, g := range gcs {
		y[i] = orNaN(g.PauseMS)
		c.Category = append(c.Category, category(g))
	}
	for _, kind := range gcColors {
		s := *kind
		c.Series = append(c.Series, &s)
	}
	c.Series[0].Values = &numbers{values: y, digits: 4}
	return c
}

// generationNames are those of the five parts of the heap.
var generationNames = []string{"Generation 0", "Generation 1", "Generation 2", "Large objects", "Pinned objects"}

// heapChart shows the heap after each collection, by generation.
func heapChart(gcs []*gc.GC) *chart {
	c := &chart{ID: "heap", Kind: stacked, Title: "Heap after collections", Unit: "MB", Table: "gc-collection", Rows: []int{}}
	type point struct {
		ms  float64
		row int
	}
	var points []point
	for i, g := range gcs {
		if _, ok := g.AfterMB.Get(); ok {
			points = append(points, point{g.BeginMS.Or(g.StartMS) + g.DurationMS.Or(0), i})
		}
	}
	order.Stable(points, func(a, b point) int {
		if a.ms < b.ms {
			return -1
		}
		return 1
	})
	x := make([]float64, len(points))
	for i, p := range points {
		x[i] = p.ms
		c.Rows = append(c.Rows, p.row)
	}
	c.X = seconds(x)
	colors := []string{"gen0", "gen1", "gen2", "loh", "poh"}
	for _, gen := range []int{0, 1, 4, 3, 2} { // from the top; what changes least is below
		y := make([]float64, len(points))
		var used bool
		for i, p := range points {
			if sizes := gcs[p.row].Generations; gen < len(sizes) {
				y[i] = sizes[gen].AfterMB.Or(0)
				used = used || y[i] > 0
			}
		}
		if used {
			c.Series = append(c.Series, &series{generationNames[gen], colors[gen], &numbers{values: y, digits: 3}})
		}
	}
	return c
}

// rateChart shows how fast the program allocated before each collection.
func rateChart(gcs []*gc.GC) *chart {
	y := each.Of(gcs, func(g *gc.GC) float64 { return orNaN(g.AllocationRateMBPerSec) })
	return &chart{ID: "rate", Kind: before, Title: "Allocation rate before each collection", Unit: "MB/s", X: starts(gcs), Table: "gc-collection",
		Series: []*series{{"Allocated", "gc", &numbers{values: y, digits: 2}}}}
}
