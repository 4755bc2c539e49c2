package gc

import (
	"cmp"
	"math"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
)

// columns sets g, which is zero, to c as a result. prev is the collection that began before
// it, or nil.
func (rt *view) columns(g *GC, c, prev *collection) {
	g.Number, g.Generation, g.TriggerThread = c.number, c.generation, c.trigger
	g.StartMS, g.Start = rt.At(c.pauseStart), rt.When(c.pauseStart)
	g.Partial, g.DoneBlocking, g.SuspensionMissing = !c.began, c.doneBlocking, c.began && !c.suspended
	g.Dynamic, g.HeapHistories, g.Pinned = slices.Clip(c.dynamic), slices.Clip(c.heaps), c.pinned
	g.CommittedBefore, g.CommittedAfter = c.committed[0], c.committed[1]
	g.Unfinished = !g.Partial && !c.complete()
	if c.began {
		g.Kind, g.Reason, g.Name = c.kind, c.reason.String(), c.name()
		g.Induced = c.induced()
		g.BeginMS = measure.Known(rt.At(c.begin))
	}
	rt.times(g, c)
	rt.sizes(g, c, prev)
	rt.allocations(g, c, prev)
	rt.globals(g, c)
	rt.marks(g, c)
	if rt.State.cpu.sampled && c.began && c.ended {
		g.CPUMS = cpuMS(c.cpu)
		g.CPUPercent = measure.Ratio(measure.Known(100*float64(c.cpu)), measure.Known(float64(c.processCPU)))
	}
}

// name is the generation and the kind, such as 2BI.
func (c *collection) name() string {
	b := append(make([]byte, 0, 3), '0'+byte(c.generation), 'N')
	switch c.kind {
	case Background:
		b[1] = 'B'
	case Foreground:
		b[1] = 'F'
	}
	switch {
	case c.reason == clr.GCReasonInducedNoForce:
		b = append(b, 'i')
	case c.induced():
		b = append(b, 'I')
	}
	return string(b)
}

// induced reports whether the program asked for the collection, in any manner.
func (c *collection) induced() bool {
	switch c.reason {
	case clr.GCReasonInduced, clr.GCReasonInducedNoForce, clr.GCReasonInducedLowMemory,
		clr.GCReasonInducedCompacting, clr.GCReasonInducedAggressive:
		return true
	}
	return false
}

// times sets the columns of time.
func (rt *view) times(g *GC, c *collection) {
	if !c.began {
		return
	}
	pause := int64(-1)
	switch {
	case c.released:
		pause = c.pause
		if c.suspend >= 0 {
			g.SuspendMS = measure.Known(rt.MS(c.suspend))
		}
	case c.kind == Background && c.hasFinal:
		pause = c.pause
	case !c.suspended && c.kind != Background && c.ended:
		pause = rt.State.within(c.begin, c.end)
	}
	if pause >= 0 {
		g.PauseMS = measure.Known(rt.MS(pause))
	}
	if c.kind == Background && c.released {
		g.InitialPauseMS = measure.Known(rt.MS(c.first))
	}
	if c.hasFinal {
		g.FinalPauseMS = measure.Known(rt.MS(c.fin))
	}
	last := rt.origin()
	if c.lastEndKnown {
		last = c.lastEnd
	}
	if c.ended {
		g.DurationMS = measure.Known(rt.MS(c.end - c.begin))
	}
	from, to := c.lasts(rt.Now)
	switch {
	case pause < 0 || rt.State.within(from, to) < to-from: // of a part of it nothing is said
	case c.kind != Background || c.doneBlocking:
		g.PausePercent = measure.Ratio(measure.Known(100*float64(pause)), measure.Known(float64(pause+max(c.pauseStart-last, 0))))
	case c.ended:
		g.PausePercent = measure.Ratio(measure.Known(100*float64(pause)), measure.Known(float64(c.end-last)))
	}
}

// A generation of all heaps together, in bytes.
type sums struct {
	before, after, in, out      uint64
	objectsBefore, objectsAfter uint64
	fragmentation, budget       uint64
	updated                     bool
}

// sum adds up generation i over the heaps.
func (c *collection) sum(i int) sums {
	s := sums{updated: len(c.heaps) > 0}
	for k := range c.heaps {
		h := &c.heaps[k].Generations[i]
		s.before = measure.Plus(s.before, h.SizeBefore)
		s.after = measure.Plus(s.after, h.SizeAfter)
		s.in = measure.Plus(s.in, h.In)
		s.out = measure.Plus(s.out, h.Out)
		s.objectsBefore = measure.Plus(s.objectsBefore, h.objectsBefore())
		s.objectsAfter = measure.Plus(s.objectsAfter, h.objectsAfter())
		s.fragmentation = measure.Plus(s.fragmentation, h.fragmentation())
		s.updated = s.updated && h.Updated
		// A heap whose budget is used up has a negative one.
		s.budget = measure.Plus(s.budget, uint64(max(int64(h.Budget), 0)))
	}
	return s
}

// collected reports whether the collection collected generation i: those up to its
// own, and all heaps with generation 2.
func (c *collection) collected(i int) bool {
	return i <= int(c.generation) || c.generation == 2
}

// sizes sets the columns of heap sizes.
func (rt *view) sizes(g *GC, c, prev *collection) {
	if !c.statsSeen && len(c.heaps) == 0 {
		return
	}
	g.Generations = take(&rt.sizeRoom, generations)
	var before, after, promoted uint64
	beforeKnown := len(c.heaps) > 0 || prev != nil && prev.statsSeen
	for i := range g.Generations {
		s := c.sum(i)
		row := &g.Generations[i]
		row.Generation = Generation(i)
		size := s.before
		if len(c.heaps) == 0 && beforeKnown {
			size = prev.stats.size[i]
			if i == 0 {
				size = c.ticks[0]
			}
		}
		if beforeKnown {
			row.BeforeMB = mb(size)
			before = measure.Plus(before, size)
		}
		if c.statsSeen {
			survived := c.stats.promoted[i]
			if i == pinnedHeap && survived == 0 && c.collected(i) {
				survived = s.out // the runtime leaves it out
			}
			row.AfterMB, row.PromotedMB = mb(c.stats.size[i]), mb(survived)
			after, promoted = measure.Plus(after, c.stats.size[i]), measure.Plus(promoted, survived)
		}
		if len(c.heaps) > 0 {
			rt.survival(row, c, s, i)
		}
	}
	if beforeKnown {
		g.BeforeMB = mb(before)
	}
	if c.statsSeen {
		g.AfterMB, g.PromotedMB = mb(after), mb(promoted)
		if c.stats.finalBytes < measure.Most { // a heap that is new says 0xbaadbaadbaad…
			g.FinalizableMB = mb(c.stats.finalBytes)
		}
		g.FinalizableCount = measure.Known(float64(c.stats.finalN))
		g.PinnedObjects = measure.Known(float64(c.stats.pinned))
		g.SyncBlocks = measure.Known(float64(c.stats.sync))
		g.Handles = measure.Known(float64(c.stats.handle))
		g.PeakMB = measure.Known(max(g.AfterMB.Or(0), g.BeforeMB.Or(0)))
		g.PeakAfterRatio = measure.Ratio(g.PeakMB, g.AfterMB)
	}
	g.FreeList = c.freeList()
}

// survival sets the columns of generation i from the histories of the heaps.
func (rt *view) survival(row *GenerationSizes, c *collection, s sums, i int) {
	row.InMB, row.OutMB = mb(s.in), mb(s.out)
	row.ObjectsBeforeMB, row.ObjectsAfterMB = mb(s.objectsBefore), mb(s.objectsAfter)
	row.BudgetMB, row.FragmentationMB = mb(s.budget), mb(s.fragmentation)
	size := s.after
	if !s.updated || c.statsSeen { // after it: the history of a background collection is older
		size = c.stats.size[i]
	}
	if s.fragmentation <= size { // of a size that was not seen it is more
		row.FragmentationPercent = measure.Ratio(measure.Known(100*float64(s.fragmentation)), measure.Known(float64(size)))
	}
	if c.collected(i) {
		row.SurvivalPercent = measure.Ratio(measure.Known(100*float64(s.out)), measure.Known(float64(s.objectsBefore)))
	}
}

func (c *collection) freeList() *FreeList {
	if c.generation != 1 || len(c.heaps) == 0 || c.heaps[0].Layout != 3 {
		return nil
	}
	f := &FreeList{}
	for i := range c.heaps {
		h := &c.heaps[i]
		f.AllocatedBytes = measure.Plus(f.AllocatedBytes, h.FreeListAllocated)
		f.ConsumedBytes = measure.Plus(f.ConsumedBytes, measure.Plus(h.FreeListAllocated, h.FreeListRejected))
	}
	f.EfficiencyPercent = measure.Ratio(measure.Known(100*float64(f.AllocatedBytes)), measure.Known(float64(f.ConsumedBytes)))
	return f
}

// globals sets the columns from the record of all heaps.
func (rt *view) globals(g *GC, c *collection) {
	g.Heaps = len(c.heaps)
	compacting := false
	for i := range c.heaps {
		compacting = compacting || c.heaps[i].Compacted
	}
	if c.hasGlobal {
		g.Heaps = cmp.Or(g.Heaps, c.global.heaps)
		compacting = compacting || c.global.mechanisms&clr.GCGlobalMechanismsCompaction != 0
		g.Mechanisms = rt.mechanisms(c.global.mechanisms)
		if c.global.hasMode {
			g.PauseMode = c.global.mode.String()
			g.MemoryLoadPercent = measure.Known(float64(c.global.load))
		}
		g.Times = rt.phases(&c.global)
	}
	if c.hasGlobal || len(c.heaps) > 0 {
		g.Compacting = &take(&rt.boolRoom, 1)[0]
		*g.Compacting = compacting
	}
	g.Condemned = c.condemned()
}

// condemned returns the reasons of the first heap that asked for the generation of
// the collection, or those of all heaps together.
func (c *collection) condemned() *Condemned {
	for i := range c.heaps {
		h := &c.heaps[i]
		if why := condemned(int64(h.Index), h.CondemnReasons0, h.CondemnReasons1); why.Final == c.generation {
			return why
		}
	}
	if c.hasGlobal && c.global.hasReasons {
		return condemned(-1, c.global.reasons0, c.global.reasons1)
	}
	return nil
}

// phases returns the times of the phases. Their meaning depends on how many there
// are: after the plan comes either a sweep or relocation and compaction.
func (rt *view) phases(g *global) *Times {
	if g.timesN < 2 {
		return nil
	}
	at := func(i int) measure.Float {
		if i >= g.timesN || g.times[i] == math.MaxUint32 {
			return measure.Float{}
		}
		return measure.Known(float64(g.times[i]))
	}
	t := &take(&rt.timesRoom, 1)[0]
	*t = Times{MarkRootsUS: at(1), ShortWeakUS: at(2), ScanFinalizationUS: at(3), LongWeakUS: at(4), PlanUS: at(5)}
	if g.timesN == 7 {
		t.SweepUS = at(6)
	} else {
		t.RelocateUS, t.CompactUS = at(6), at(7)
	}
	return t
}

// marks sets how long marking from each kind of roots took.
func (rt *view) marks(g *GC, c *collection) {
	if len(c.marks) == 0 {
		return
	}
	clear(rt.marked)
	several := slices.ContainsFunc(c.marks, func(m mark) bool { return m.heap != c.marks[0].heap })
	g.Marks = take(&rt.markRoom, len(c.marks))[:0]
	last := c.begin
	for _, m := range c.marks {
		from := last
		if several {
			var ok bool
			if from, ok = rt.marked[m.heap]; !ok {
				from = c.begin
			}
			rt.marked[m.heap] = m.at
		}
		last = m.at
		out := Mark{Heap: m.heap, TookMS: rt.MS(m.at - from)}
		if int(m.root) < len(rootNames) {
			out.Root = rootNames[m.root]
		} else {
			out.Root = m.root.String()
		}
		if m.hasBytes {
			out.PromotedMB = mb(m.bytes)
		}
		g.Marks = append(g.Marks, out)
	}
}
