package gc

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/generated/clr"
)

// start is the begin of a collection. .NET Framework sends it twice.
func (rt *state) start(thread, now int64, e *clr.AnyGCStart) {
	if n := len(rt.gcs); n > 0 && rt.gcs[n-1].began && rt.gcs[n-1].number == e.Count {
		return
	}
	c := &take(&rt.room.gcs, 1)[0]
	c.number, c.generation, c.reason, c.kind = e.Count, Generation(min(e.Depth, 2)), e.Reason, kindOf(e.Type)
	c.began, c.begin, c.pauseStart, c.suspend = true, now, now, -1
	c.lastEnd, c.lastEndKnown, c.trigger = rt.lastEnd, rt.hasLast, rt.trigger
	rt.trigger = 0
	c.ran = now - rt.stood
	if p := rt.forStart(thread); p != nil {
		c.suspended, c.ran = true, p.stands()-rt.stood
		if len(p.gcs) == 0 {
			c.pauseStart = p.begin
		} else {
			c.lastEnd, c.lastEndKnown = now, true
		}
		if len(p.gcs) < maxOpen {
			p.gcs = append(p.gcs, c)
		} else {
			c.suspended = false
		}
	}
	rt.add(c)
	rt.run(c)
	if c.kind == Background {
		rt.bgc = c
	} else {
		rt.current = c
	}
}

func kindOf(t clr.GCType) Kind {
	switch t {
	case clr.GCTypeBackgroundGC:
		return Background
	case clr.GCTypeForegroundGC:
		return Foreground
	}
	return Blocking
}

// stop is the end of a collection, which comes on its own thread: others can
// have begun since.
func (rt *state) stop(thread, now int64, e *clr.AnyGCEnd) {
	c := rt.finish(e.Count)
	if c == nil { // it began before the trace did
		c = &collection{number: e.Count, generation: Generation(min(e.Depth, 2)), suspend: -1, pauseStart: now}
		rt.add(c)
	}
	c.ended, c.end = true, now
	c.processCPU = rt.cpu.all - rt.cpu.atLastEnd
	rt.cpu.atLastEnd = rt.cpu.all
	if rt.current == c {
		rt.current = nil
	}
	if rt.bgc == c && rt.inSuspension(c) {
		c.doneBlocking = true
		rt.bgc = nil
	}
	rt.noteEnded(thread, c)
}

// inSuspension reports whether a suspension is open in which c began.
func (rt *state) inSuspension(c *collection) bool {
	for i := range rt.open {
		if slices.Contains(rt.open[i].gcs, c) {
			return true
		}
	}
	return false
}

func (rt *state) noteEnded(thread int64, c *collection) {
	if rt.ended == nil {
		rt.ended = make(map[int64]*collection)
	}
	rt.ended[thread] = c
}

// heapStats is the state of the heap after the collection that ended last on this
// thread.
func (rt *state) heapStats(thread, now int64, e *clr.AnyGCHeapStats) {
	c := rt.ended[thread]
	if c == nil || c.statsSeen {
		c = &collection{generation: -1, ended: true, end: now, suspend: -1, pauseStart: now}
		rt.add(c)
	}
	c.statsSeen = true
	c.stats = heapStats{
		size:       [generations]uint64{e.GenerationSize0, e.GenerationSize1, e.GenerationSize2, e.GenerationSize3, e.GenerationSize4},
		promoted:   [generations]uint64{e.TotalPromotedSize0, e.TotalPromotedSize1, e.TotalPromotedSize2, e.TotalPromotedSize3, e.TotalPromotedSize4},
		finalBytes: e.FinalizationPromotedSize, finalN: e.FinalizationPromotedCount,
		pinned: e.PinnedObjectCount, sync: e.SinkBlockCount, handle: e.GCHandleCount,
	}
	if rt.window.NotAfter(now) { // else the ticks of the window are after its last collection
		c.ticks = rt.ticksSince
		rt.ticksSince = [3]uint64{}
	}
	c.summarizePins()
	if rt.bgc == c {
		rt.bgc = nil
	}
}

// historyTarget returns the collection that a record of its history on this thread
// is of. Blocking ones send it before they end, and so do background ones of a
// workstation GC; those of a server GC send it afterwards.
func (rt *state) historyTarget(thread int64) *collection {
	if c := rt.current; c != nil && !c.hasGlobal {
		return c
	}
	if c := rt.ended[thread]; c != nil && c.kind == Background && !c.hasGlobal {
		return c
	}
	return rt.bgc
}

// manyHeaps is for how many heaps room is made before their records come.
const manyHeaps = 64

// globalHistory is the record of all heaps together, and tells how many records of
// single heaps follow on this thread.
func (rt *state) globalHistory(thread int64, g global) {
	c := rt.historyTarget(thread)
	if c == nil || c.hasGlobal {
		return
	}
	c.hasGlobal, c.global = true, g
	if c.heaps == nil {
		c.heaps = take(&rt.room.heaps, min(max(g.heaps, 1), manyHeaps))[:0]
	}
	rt.firstHeaps = cmp.Or(rt.firstHeaps, g.heaps)
	if rt.history == nil {
		rt.history = make(map[int64]history)
	}
	rt.history[thread] = history{c, g.heaps}
}

// heapHistory is the record of one heap.
func (rt *state) heapHistory(thread int64, h *Heap) {
	to := rt.history[thread]
	c := to.gc
	if c == nil || to.left <= 0 {
		if c = rt.historyTarget(thread); c == nil {
			return
		}
	} else {
		to.left--
		rt.history[thread] = to
	}
	h.setUpdated(int(c.generation))
	c.heaps = append(c.heaps, *h)
}

const (
	// maxMarks is more than a thousand heaps make.
	maxMarks = 1 << 14
	// marksAtOnce is more than most collections of one heap make.
	marksAtOnce = 8
)

// mark notes that a heap is done with marking from one kind of roots. The older
// events that say so have no bytes, and some runtimes send them beside the newer.
func (rt *state) mark(m mark) {
	c := rt.inProgress()
	if c == nil || len(c.marks) == maxMarks {
		return
	}
	if !m.hasBytes {
		for _, old := range c.marks {
			if old.heap == m.heap && old.root == m.root {
				return
			}
		}
	}
	if c.marks == nil {
		c.marks = take(&rt.room.marks, marksAtOnce)[:0]
	}
	c.marks = append(c.marks, m)
}

// dynamicEvent takes an event of the collector's tuning. Of the two that tell the committed
// memory, the first is before the collection.
func (rt *state) dynamicEvent(thread int64, d Dynamic, m *Committed) {
	c := rt.inProgress()
	if c == nil {
		c = rt.ended[thread]
	}
	switch {
	case c == nil:
	case m == nil:
		c.dynamic = append(c.dynamic, d)
	case c.committed[0] == nil:
		c.committed[0] = m
	case c.committed[1] == nil:
		c.committed[1] = m
	}
}
