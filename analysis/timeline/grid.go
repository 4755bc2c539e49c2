package timeline

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/system"
)

// maxEntries is how much of a lane is kept as it was. Of a lane with more, the entries
// within a slot are summed up, so that a trace of any length takes as much memory.
const (
	maxEntries = 1 << 16
	gridSlots  = 1 << 16
)

// maxRuns is how many times that threads ran are kept one by one.
const maxRuns = 1 << 20

// joined joins times of a thread that lie close together once there are most of them, until half
// are left: they count as if it had run evenly from the first to the last.
func joined(list []ran, most int) []ran {
	if len(list) < most {
		return list
	}
	for near := int64(1e5); len(list) > most/2; near *= 2 {
		last, left := make(map[*system.Thread]int), 0
		for _, x := range list {
			if i, ok := last[x.thread]; ok && x.to-list[i].from <= near {
				list[i].to, list[i].ns = x.to, list[i].ns+x.ns
				continue
			}
			list[left], last[x.thread] = x, left
			left++
		}
		list = list[:left]
		if near > 1e18 {
			break // of as many threads
		}
	}
	return list
}

// A track is the kept part of a lane: entries, or a grid of them once they are many.
type track struct {
	entries []entry
	grid    *grid
}

// A grid has the sums of a lane in slots, which become twice as wide when it ends.
type grid struct {
	chart
	row
	rate []float64 // what each slot has more than the one before, of what lasts for many
}

// keep keeps an entry. Levels are kept as they are.
func (t *track) keep(e entry, how How) {
	if t.grid != nil {
		t.grid.take(e)
		return
	}
	t.entries = append(t.entries, e)
	if how != Sum || len(t.entries) < maxEntries {
		return
	}
	from := e.from
	for _, x := range t.entries {
		from = min(from, x.from)
	}
	t.grid = &grid{chart: chart{from: from, width: 1}, row: row{values: make([]float64, gridSlots)}, rate: make([]float64, gridSlots)}
	for _, x := range t.entries {
		t.grid.take(x)
	}
	t.entries = nil
}

// take adds an entry to the slots that it was in.
func (g *grid) take(e entry) {
	for max(e.from, e.to-1) >= g.chart.from+g.width*gridSlots {
		g.flatten()
		half := g.values[:gridSlots/2]
		for i := range half {
			half[i] = g.values[2*i] + g.values[2*i+1]
		}
		clear(g.values[gridSlots/2:])
		g.width *= 2
	}
	first, last := g.bucket(&g.row, e.from), g.bucket(&g.row, e.to-1)
	if last-first < 16 {
		g.put(&g.row, e)
		return
	}
	each := e.value * (float64(g.width) / float64(e.to-e.from))
	head := e.value * (float64(g.chart.from+int64(first+1)*g.width-e.from) / float64(e.to-e.from))
	g.values[first] += head
	g.rate[first+1] += each
	g.rate[last] -= each
	g.values[last] += e.value - head - each*float64(last-first-1)
}

// flatten adds entries that last for many to the slots.
func (g *grid) flatten() {
	sum := 0.0
	for i, x := range g.rate {
		sum += x
		g.values[i] += max(sum, 0)
	}
	clear(g.rate)
}

// put adds an entry to a sum.
func (c *chart) put(r *row, e entry) {
	if e.to > e.from {
		c.spread(r, e.from, e.to, e.value)
	} else {
		c.add(r, e.from, e.value)
	}
}

// add adds the kept entries to a row of a chart.
func (t *track) add(c *chart, r *row) {
	for _, e := range t.entries {
		if r.how == Highest {
			c.set(r, e.from, e.value)
		} else {
			c.put(r, e)
		}
	}
	if t.grid == nil {
		return
	}
	g := t.grid
	g.flatten()
	r.within = max(r.within, g.width)
	for i, v := range g.values {
		if v != 0 {
			from := g.chart.from + int64(i)*g.width
			c.spread(r, from, from+g.width, v)
		}
	}
}

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	n, ms := 0, 0.0
	for _, l := range r.Lanes {
		if l.WithinMS > 0 {
			n, ms = n+1, max(ms, l.WithinMS)
		}
	}
	if n == 0 {
		return r.doubts
	}
	return append(slices.Clip(r.doubts), fmt.Sprintf("lanes that have more than %d parts, which are summed up within times of %g ms at most: %d", maxEntries, ms, n))
}
