package peers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
)

// compareCollections compares each figure of each collection, and their sums.
func compareCollections(s *sheet) {
	byPID := map[int64]*gc.Runtime{}
	for _, rt := range s.ours.GC.Runtimes {
		byPID[rt.PID] = rt
	}
	for i := range s.theirs.GC {
		theirs := &s.theirs.GC[i]
		ours := byPID[theirs.Process.ID]
		if ours == nil {
			s.equal("the number of collections", 0, len(theirs.GCs))
			continue
		}
		s.equal("the number of collections", len(ours.GCs), len(theirs.GCs))
		if len(ours.GCs) != len(theirs.GCs) {
			continue
		}
		c := &collections{sheet: s, runtime: ours, gcs: ours.GCs, peers: theirs.GCs}
		for i, g := range ours.GCs {
			c.where = fmt.Sprintf("%s %d: ", g.Name, g.Number)
			c.at(i)
		}
		c.where = ""
		c.settings(theirs)
		c.tuning()
		if len(ours.GCs) > 0 {
			c.rollups(theirs)
		}
	}
}

// collections are those of a runtime, on both sides.
type collections struct {
	*sheet
	runtime *gc.Runtime
	gcs     []*gc.GC
	peers   []peerGC
	where   string
}

// same compares a number that may be unknown here.
func (c *collections) same(field string, ours measure.Float, theirs float64) {
	c.t.Helper()
	c.count()
	if v, ok := ours.Get(); !ok || !nearly(v, theirs) {
		c.t.Errorf("%s: %s%s is %v, and TraceEvent says %v", c.file, c.where, field, ours, theirs)
	}
}

// rule compares a number where a rule gives TraceEvent's number: ours, or that.
func (c *collections) rule(field string, ours measure.Float, theirs float64, why string, there float64) {
	c.t.Helper()
	switch v, ok := ours.Get(); {
	case ok && nearly(v, theirs):
		c.count()
	case nearly(there, theirs):
		c.differs(why)
	default:
		c.count()
		c.t.Errorf("%s: %s%s is %v, which would be %v there, and TraceEvent says %v", c.file, c.where, field, ours, there, theirs)
	}
}

func (c *collections) is(field string, ours, theirs any) {
	c.t.Helper()
	c.equal(c.where+field, ours, theirs)
}

// at compares the collection with an index.
func (c *collections) at(i int) {
	g, p := c.gcs[i], &c.peers[i]
	c.is("number", g.Number, p.Number)
	c.is("generation", int(g.Generation), p.Generation)
	c.is("kind", g.Kind, []gc.Kind{gc.Blocking, gc.Background, gc.Foreground}[p.Type])
	c.is("reason", g.Reason, p.Reason.String())
	if g.Induced && strings.TrimSuffix(g.Name, "I") == p.GCGenerationName {
		c.differs(whyInduced)
	} else {
		c.is("name", g.Name, p.GCGenerationName)
	}
	c.is("complete", g.Complete(), p.IsComplete)
	c.times(i)
	if !g.Complete() && p.HeapSizeAfterMB == -1 && p.PromotedMB == -1 && g.AfterMB.IsZero() && g.PromotedMB.IsZero() {
		c.differs(whyOpen)
	} else {
		c.same("size after", g.AfterMB, p.HeapSizeAfterMB)
		c.rule("promoted", g.PromotedMB, p.PromotedMB, whyPinned, g.PromotedMB.Or(0)-pinnedPromoted(g))
	}
	c.stats(g, p)
	c.marks(g, p)
	server := c.runtime.ServerGC != nil && *c.runtime.ServerGC // of any number of heaps
	if g.Kind == gc.Background && server && len(p.PerHeapHistories) == 0 {
		c.differs(whyServer)
		return
	}
	if c.moved(i) {
		c.differs(whyMoved)
		return
	}
	c.is("number of heaps", len(g.HeapHistories), len(p.PerHeapHistories))
	if len(g.HeapHistories) == len(p.PerHeapHistories) && len(g.HeapHistories) > 0 {
		c.histories(i)
	}
}

// moved reports whether TraceEvent gives the histories of a background collection to another
// one that paused the program when it ended: that has its own and these, and it none.
func (c *collections) moved(i int) bool {
	ours := func(j int) int { return len(c.gcs[j].HeapHistories) }
	theirs := func(j int) int { return len(c.peers[j].PerHeapHistories) }
	given := func(from, to int) bool {
		b, end := c.gcs[from], c.gcs[from].BeginMS.Or(0)+c.gcs[from].DurationMS.Or(0)
		other := c.gcs[to]
		return b.Kind == gc.Background && theirs(from) == 0 && ours(from) > 0 && theirs(to) == ours(to)+ours(from) &&
			other.Kind != gc.Background && b.StartMS < other.StartMS && other.StartMS < end
	}
	for j := range c.gcs {
		if given(i, j) || given(j, i) {
			return true
		}
	}
	return false
}

// times compares when a collection was, and how long it stopped the threads.
func (c *collections) times(i int) {
	g, p := c.gcs[i], &c.peers[i]
	c.same("begin of the pause", measure.Known(g.StartMS), p.PauseStartRelativeMSec)
	c.same("begin", g.BeginMS, p.StartRelativeMSec)
	if !g.Complete() && g.DurationMS.IsZero() && p.DurationMSec == 0 {
		c.differs(whyOpen)
	} else {
		c.same("duration", g.DurationMS, p.DurationMSec)
	}
	c.same("time to suspend", g.SuspendMS, p.SuspendDurationMSec)
	switch {
	case g.DoneBlocking:
		c.rule("pause", g.PauseMS, p.PauseDurationMSec, whyBlocking, g.SuspendMS.Or(-1))
	case g.Kind == gc.Background && i+1 < len(c.gcs) && c.gcs[i+1].StartMS == c.gcs[i+1].BeginMS.Or(-1):
		// The next one began in the same suspension: its own begin is that of its pause.
		// There the first pause is the time to suspend, of which that of the last is a part.
		others := g.PauseMS.Or(0) - g.InitialPauseMS.Or(0)
		there := others + max(0, min(p.PauseDurationMSec-others, g.SuspendMS.Or(0)))
		c.rule("pause", g.PauseMS, p.PauseDurationMSec, whyGap, there)
	default:
		c.same("pause", g.PauseMS, p.PauseDurationMSec)
	}
	if i == 0 || c.betweenPauses(i) {
		return
	}
	// It goes by the end of the last pause, here, and there by its HeapStats.
	last := c.peers[i-1].PauseStartRelativeMSec + c.peers[i-1].PauseDurationMSec
	if g.Kind != gc.Background && p.PauseStartRelativeMSec > last {
		c.same("share of pauses", g.PausePercent, 100*p.PauseDurationMSec/(p.PauseStartRelativeMSec+p.PauseDurationMSec-last))
	}
}

// pinnedPromoted is the surviving bytes of the pinned objects, which the runtime leaves out.
func pinnedPromoted(g *gc.GC) float64 {
	if len(g.Generations) < 5 {
		return 0
	}
	return g.Generations[4].PromotedMB.Or(0)
}

// betweenPauses reports whether the last pause before a collection may be one of a
// background collection, and so not the whole one of that before it.
func (c *collections) betweenPauses(i int) bool {
	last := c.gcs[i-1]
	return !last.Complete() || slices.ContainsFunc(c.gcs[:i], func(b *gc.GC) bool {
		return b.Kind == gc.Background && (b.DurationMS.IsZero() || b.BeginMS.Or(0)+b.DurationMS.Or(0) > last.StartMS)
	})
}

// stats compares the values of GCHeapStats and CommittedUsage.
func (c *collections) stats(g *gc.GC, p *peerGC) {
	if s := p.HeapStats; s != nil {
		if final, err := s.FinalizationPromotedSize.Float64(); g.FinalizableMB.IsZero() && err == nil && (final < 0 || final >= measure.Most) {
			c.differs(whyUnset)
		} else {
			c.same("size of the finalizable", g.FinalizableMB, final/1e6)
		}
		c.same("number of the finalizable", g.FinalizableCount, s.FinalizationPromotedCount)
		c.same("pinned objects", g.PinnedObjects, s.PinnedObjectCount)
		c.same("handles", g.Handles, s.GCHandleCount)
		c.same("sync blocks", g.SyncBlocks, s.SinkBlockCount)
		promoted := []float64{s.TotalPromotedSize0, s.TotalPromotedSize1, s.TotalPromotedSize2, s.TotalPromotedSize3, s.TotalPromotedSize4}
		for k := range g.Generations {
			if k == 4 {
				c.rule("promoted of the pinned", g.Generations[k].PromotedMB, promoted[k]/1e6, whyPinned, 0)
				continue
			}
			c.same(fmt.Sprintf("promoted of generation %d", k), g.Generations[k].PromotedMB, promoted[k]/1e6)
		}
	}
	c.committed("committed before", g.CommittedBefore, p.CommittedUsageBefore)
	c.committed("committed after", g.CommittedAfter, p.CommittedUsageAfter)
	for i, ticked := range p.AllocedSinceLastGCBasedOnAllocTickMB {
		c.same(fmt.Sprintf("ticks of heap %d", i), measure.Known(g.TickedMB[i]), ticked)
	}
}

func (c *collections) committed(field string, ours *gc.Committed, p *peerCommitted) {
	if p == nil || ours == nil {
		c.is(field, ours == nil, p == nil)
		return
	}
	c.is(field, *ours, gc.Committed{InUse: p.TotalCommittedInUse, GlobalDecommit: p.TotalCommittedInGlobalDecommit, Free: p.TotalCommittedInFree,
		GlobalFree: p.TotalCommittedInGlobalFree, Bookkeeping: p.TotalBookkeepingCommitted})
}

// roots are the kinds of roots in the order of TraceEvent's lists.
var roots = []string{"Stack", "FinalizeQueue", "Handles", "OlderGeneration", "SizedRefs", "Overflow",
	"DependentHandles", "NewFinalizeQueue", "Steal", "BackgroundRoots"}

// marks compares the marks of each heap by the kind of roots. Of those that come
// twice on a heap TraceEvent keeps the last, and each mark takes the time since the
// kept one before.
func (c *collections) marks(g *gc.GC, p *peerGC) {
	for heap, theirs := range p.PerHeapMarkTimes {
		var ours []gc.Mark
		for _, m := range g.Marks {
			if fmt.Sprint(m.Heap) == heap {
				ours = append(ours, m)
			}
		}
		lost := 0.0
		for i, m := range ours {
			again := func(other gc.Mark) bool { return other.Root == m.Root }
			kind := slices.Index(roots, m.Root)
			if kind < 0 || kind >= len(theirs.MarkTimes) {
				c.is("kind of roots", m.Root, "")
				continue
			}
			if slices.ContainsFunc(ours[i+1:], again) {
				lost += m.TookMS
				continue
			}
			c.rule("time of marking from "+m.Root, measure.Known(m.TookMS), theirs.MarkTimes[kind], whyRepeated, m.TookMS+lost)
			c.same("promoted by "+m.Root, measure.Known(m.PromotedMB.Or(0)), theirs.MarkPromoted[kind]/1e6)
			lost = 0
		}
	}
}

// histories compares the records of each heap and of all heaps.
func (c *collections) histories(i int) {
	g, p := c.gcs[i], &c.peers[i]
	for k := range p.PerHeapHistories {
		c.history(&g.HeapHistories[k], &p.PerHeapHistories[k])
	}
	c.global(g, p)
	if p.FreeList.Valid {
		c.is("bytes from the free list", g.FreeList.AllocatedBytes, p.FreeList.Allocated)
		c.is("bytes of the free list", g.FreeList.ConsumedBytes, p.FreeList.FreeListConsumed)
	}
	c.same("size before", g.BeforeMB, p.HeapSizeBeforeMB)
	c.rule("peak", g.PeakMB, p.HeapSizePeakMB, whyPeak, min(g.PeakMB.Or(0), p.HeapSizePeakMB))
	c.is("peak below the sizes", g.PeakMB.Or(0) < max(p.HeapSizeBeforeMB, p.HeapSizeAfterMB)-1e-9, false)
	if nearly(g.PeakMB.Or(0), p.HeapSizePeakMB) {
		c.same("ratio of peak and after", g.PeakAfterRatio, p.RatioPeakAfter)
	}
	for k := range g.Generations {
		c.generation(i, k)
	}
}

func (c *collections) global(g *gc.GC, p *peerGC) {
	o := p.GlobalHeapHistory
	if o == nil {
		return
	}
	c.is("condemned generation", int(g.Generation), o.CondemnedGeneration)
	c.is("mode of pauses", g.PauseMode, clr.GCPauseMode(o.PauseMode).String())
	c.is("mechanisms", g.Mechanisms, clr.GCGlobalMechanisms(o.GlobalMechanisms).String())
	c.same("memory load", g.MemoryLoadPercent, o.MemoryPressure)
	compacting := clr.GCGlobalMechanisms(o.GlobalMechanisms)&clr.GCGlobalMechanismsCompaction != 0
	for k := range p.PerHeapHistories {
		compacting = compacting || p.PerHeapHistories[k].CompactMechanisms < noMechanism
	}
	c.is("compacting", *g.Compacting, compacting)
	if g.Times == nil || len(o.Times) < 6 {
		c.is("times of phases", g.Times == nil, len(o.Times) < 2)
		return
	}
	t := g.Times
	ours := []measure.Float{{}, t.MarkRootsUS, t.ShortWeakUS, t.ScanFinalizationUS, t.LongWeakUS, t.PlanUS, t.RelocateUS, t.CompactUS}
	if len(o.Times) == 7 {
		ours[6] = t.SweepUS
	}
	for i := 1; i < len(o.Times); i++ {
		want := measure.Known(float64(o.Times[i]))
		if o.Times[i] == notMeasured {
			want = measure.Float{}
		}
		c.is(fmt.Sprintf("time of phase %d", i), ours[i], want)
	}
}

const (
	noMechanism = 1024       // is that of none, there
	notMeasured = 0xFFFFFFFF // is the time of a phase that was not
)

func (c *collections) history(h *gc.Heap, p *peerHistory) {
	c.is("first reasons of a heap", uint64(h.CondemnReasons0), p.CondemnReasons0)
	c.is("further reasons of a heap", uint64(h.CondemnReasons1), p.CondemnReasons1)
	c.is("extra commit of a heap", h.ExtraGen0Commit, p.ExtraGen0Commit)
	c.is("free list of a heap, allocated", h.FreeListAllocated, p.FreeListAllocated)
	c.is("free list of a heap, rejected", h.FreeListRejected, p.FreeListRejected)
	c.is("allocated at ends of segments", h.EndOfSegAllocated, p.EndOfSegAllocated)
	c.is("allocated in what is condemned", h.CondemnedAllocated, p.CondemnedAllocated)
	c.is("allocated pinned", h.PinnedAllocated, p.PinnedAllocated)
	c.is("allocated pinned, advance", h.PinnedAllocatedAdvance, p.PinnedAllocatedAdvance)
	c.is("efficiency of a heap", h.RunningFreeListEfficiency, p.RunningFreeListEfficiency)
	c.is("compacted heap", h.Compacted, p.CompactMechanisms < noMechanism)
	c.is("expanded heap", h.Expanded, p.ExpandMechanisms < noMechanism)
	for i := range min(len(p.GenData), len(h.Generations)) {
		o, g := h.Generations[i], p.GenData[i]
		ours := [...]uint64{o.SizeBefore, o.FreeListBefore, o.FreeObjBefore, o.SizeAfter, o.FreeListAfter, o.FreeObjAfter, o.In, o.Out, o.PinnedOut, o.Budget}
		theirs := [...]uint64{g.SizeBefore, g.FreeListSpaceBefore, g.FreeObjSpaceBefore, g.SizeAfter, g.FreeListSpaceAfter, g.FreeObjSpaceAfter, g.In, g.Out, g.PinnedSurv, uint64(g.Budget)}
		c.is(fmt.Sprintf("generation %d of a heap", i), ours, theirs)
	}
}

func (c *collections) settings(theirs *peerRuntime) {
	s, ours := theirs.Settings, c.runtime.Settings
	if s == nil || ours == nil {
		return
	}
	c.is("bits of the settings", ours.BitSettings, s.BitSettings)
	c.is("hard limit", ours.HardLimitBytes, s.HardLimit)
	c.is("threshold of large objects", ours.LOHThresholdBytes, s.LOHThreshold)
	c.is("least budget", ours.Gen0MinBudgetBytes, s.Gen0MinBudgetConfig)
	c.is("greatest budget", ours.Gen0MaxBudgetBytes, s.Gen0MaxBudgetConfig)
	c.is("physical memory", ours.PhysicalMemoryBytes, s.PhysicalMemoryConfig)
	c.is("high memory", ours.HighMemoryPercent, s.HighMemPercentConfig)
}
