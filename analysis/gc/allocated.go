package gc

import "github.com/etwgen/etwgen/analysis/measure"

// kinds are the generations in which programs allocate: small, large and pinned objects.
var kinds = [...]int{0, 3, 4}

// An allocated holds the bytes that the collections so far left of each kind of object:
// bytes beyond it that the next one finds were allocated since.
//
// What a background collection found is there when the next one begins, in the same suspension
// or later. It sweeps while the program goes on, small objects too before .NET 5, and what it
// left counts from its end on; by how much it found the heap grown is what the program
// allocated meanwhile, but for what fits into what was free. Before .NET 5 the size after of
// small objects can be less than the next one finds again: then only what became free is gone.
type allocated struct {
	known bool
	left  [len(kinds)]uint64
	swept *collection // a background one that has not ended yet
	alone bool        // no other one began since
}

// begun takes that the runtime starts, with nothing.
func (a *allocated) begun() { a.known = true }

// since returns how many bytes of each kind were allocated before c, if that is known. The
// collections are those of one runtime, in the order in which they began.
func (a *allocated) since(c *collection) (bytes [len(kinds)]uint64, known bool) {
	if b := a.swept; b != nil && b.ended && b.end <= c.begin {
		bytes = a.sweeps(b, c)
	}
	a.alone = false
	if len(c.heaps) == 0 {
		a.known, a.swept = false, nil
		return [len(kinds)]uint64{}, false
	}
	known = a.known
	for k, gen := range kinds {
		s := c.sum(gen)
		if known {
			bytes[k] = measure.Plus(bytes[k], sub(s.objectsBefore, a.left[k]))
		}
		if c.kind != Background {
			a.left[k] = s.objectsAfter
		} else if a.left[k] < s.objectsBefore || !known {
			a.left[k] = s.objectsBefore
		}
	}
	a.known = true
	if c.kind == Background {
		a.swept, a.alone = c, true
	}
	return bytes, known
}

// sweeps takes the bytes that a background collection left, and returns by how much the heap
// grew while it ran. If others ran meanwhile, they know better of small objects, and count
// the growth.
func (a *allocated) sweeps(b, next *collection) (grown [len(kinds)]uint64) {
	for k, gen := range kinds {
		s := b.sum(gen)
		if a.alone {
			grown[k] = sub(s.after, s.before)
		} else if gen == 0 {
			continue
		}
		a.left[k] = s.objectsAfter
		if gen == 0 && b.beforeNET5() && s.after < s.before && next.sum(gen).before >= s.before {
			a.left[k] = sub(s.before, s.fragmentation)
		}
	}
	a.swept = nil
	return grown
}

// allocations sets the allocations since the collection before.
func (rt *view) allocations(g *GC, c, prev *collection) {
	for i := range g.TickedMB {
		g.TickedMB[i] = mb(c.ticks[i]).Or(0)
	}
	bytes, known := rt.allocated.since(c)
	if rt.goesOn || !c.statsSeen && len(c.heaps) == 0 || !known && rt.ticksTotal() == 0 {
		return
	}
	if !known {
		bytes, g.AllocatedByTicks = rt.firstTicks(c), true
	}
	var total uint64
	for k, gen := range kinds {
		total = measure.Plus(total, bytes[k])
		g.Generations[gen].AllocatedMB = mb(bytes[k])
	}
	g.AllocatedMB = mb(total)
	if c.began {
		last := rt.origin()
		if prev != nil {
			last = prev.ran
		}
		if c.ran > last {
			g.AllocationRateMBPerSec = measure.Ratio(measure.Known(float64(total)/1e3), measure.Known(rt.MS(c.ran-last)))
		}
	}
}

// firstTicks returns what ticks say of the time before c, the first collection of the trace.
// Runtimes before .NET 5 count in them more than they hand out: not more than c found is true.
func (rt *view) firstTicks(c *collection) [len(kinds)]uint64 {
	bytes := c.ticks
	if rt.beforeNET5() && len(c.heaps) > 0 {
		for k, gen := range kinds {
			bytes[k] = min(bytes[k], c.sum(gen).objectsBefore)
		}
	}
	return bytes
}

// total sets what was allocated in all: what the allocation ticks say, or else what the
// collections found: not what was allocated before the first one and after the last, but
// with the ends of pieces of memory that were handed out and not used. Ticks can be lost:
// they count if both agree on the time between the first and the last collection. Runtimes
// before .NET 5 count in ticks more than they hand out, up to several times as much, and with
// several heaps less after the last collection: of these they count after it alone, if that
// is too little to matter.
func (rt *view) total(out *Runtime) {
	found := out.All.AllocatedMB
	ticked := out.tickedBetween()
	switch {
	case !found.IsZero() && out.TickedMB > 0 && rt.beforeNET5():
		since := rt.State.ticksSince
		after := mb(measure.Plus(measure.Plus(since[0], since[1]), since[2]))
		out.AllocatedMB, out.AllocatedBy = measure.Known(found.Or(0)+after.Or(0)), "collections and ticks"
		if after.Or(0) > inexact*found.Or(0) {
			out.AllocatedMB, out.AllocatedBy, out.TickedAfterMB = found, "collections", after
		}
	case out.TickedMB > 0 && (out.All.AllocatedByHistoriesMB == 0 || ticked > 0 && agrees(ticked, out.All.AllocatedByHistoriesMB)):
		out.AllocatedMB, out.AllocatedBy = measure.Known(out.TickedMB), "ticks"
	case !found.IsZero():
		out.AllocatedMB, out.AllocatedBy = found, "collections"
	}
}

// inexact is the share of what was allocated that ticks before .NET 5 may be of.
const inexact = 0.02

// beforeNET5 reports whether the runtime has no heap of pinned objects.
func (rt *view) beforeNET5() bool {
	for _, c := range rt.State.gcs { // in the window or not
		if len(c.heaps) > 0 {
			return c.beforeNET5()
		}
	}
	return false
}

// beforeNET5 is that of a collection with heaps.
func (c *collection) beforeNET5() bool { return c.heaps[0].Known < generations }

// Bounds of the sum of allocation ticks, as a part of the allocations that the collections found.
const (
	leastTicked = 0.8
	mostTicked  = 1.2
)

// tickedBetween is the sum of the ticks from the first collection to the last.
func (rt *Runtime) tickedBetween() (ticked float64) {
	for i, g := range rt.GCs {
		if i > 0 && g.Complete() {
			ticked += g.TickedMB[0] + g.TickedMB[1] + g.TickedMB[2]
		}
	}
	return ticked
}

// agrees reports whether ticks are believable, by the findings of collections.
func agrees(ticked, found float64) bool {
	return ticked >= leastTicked*found && ticked <= mostTicked*found
}
