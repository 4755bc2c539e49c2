package peers

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// peerSums are the figures of a generation, added up over TraceEvent's heaps.
type peerSums struct {
	before, after         float64 // of objects
	freeBefore, freeAfter float64
	out, budget           float64
	rate                  int // of survival, as the heaps have it
	heaps                 int
}

func (p *peerGC) sum(k int) peerSums {
	s := peerSums{heaps: len(p.PerHeapHistories)}
	for h := range p.PerHeapHistories {
		if k >= len(p.PerHeapHistories[h].GenData) {
			continue
		}
		g := &p.PerHeapHistories[h].GenData[k]
		s.before += float64(g.SizeBefore - min(g.SizeBefore, g.FreeListSpaceBefore+g.FreeObjSpaceBefore))
		s.after += float64(g.SizeAfter - min(g.SizeAfter, g.FreeListSpaceAfter+g.FreeObjSpaceAfter))
		s.freeBefore += float64(g.FreeListSpaceBefore + g.FreeObjSpaceBefore)
		s.freeAfter += float64(g.FreeListSpaceAfter + g.FreeObjSpaceAfter)
		s.out += float64(g.Out)
		s.budget += float64(max(g.Budget, 0))
		s.rate += g.SurvRate
	}
	return s
}

// ticked returns the allocations in a generation by ticks. There the pinned objects have
// those of the large ones.
func (p *peerGC) ticked(k int) float64 { return p.AllocedSinceLastGCBasedOnAllocTickMB[min(k, 1)] }

// generation compares a generation of all heaps of the collection with an index.
func (c *collections) generation(i, k int) {
	g, p := c.gcs[i], &c.peers[i]
	row, sum, where := &g.Generations[k], p.sum(k), c.where
	c.where += fmt.Sprintf("generation %d: ", k)
	defer func() { c.where = where }()
	if k < len(p.GenSizeBeforeMB) {
		c.same("size before", row.BeforeMB, p.GenSizeBeforeMB[k])
	}
	c.maybe("size after", row.AfterMB, p.GenSizeAfterMB.at(k))
	c.maybe("in", row.InMB, p.GenInMB.at(k))
	c.maybe("out", row.OutMB, p.GenOutMB.at(k))
	if k >= len(g.HeapHistories[0].Generations) || k >= len(p.PerHeapHistories[0].GenData) {
		return
	}
	c.same("budget", row.BudgetMB, sum.budget/1e6)
	if g.HeapHistories[0].Generations[k].Updated {
		c.maybe("fragmentation", row.FragmentationMB, p.GenFragmentationMB.at(k))
		if free, size := p.GenFragmentationMB.at(k), p.GenSizeAfterMB.at(k); free != nil && size != nil && *free > *size {
			c.is("percent of more free space than there is", row.FragmentationPercent, measure.Float{})
			c.rule("objects after", row.ObjectsAfterMB, *p.GenObjSizeAfterMB.at(k), whyUpdated, *size-*free)
		} else {
			c.maybe("percent of fragmentation", row.FragmentationPercent, p.GenFragmentationPercent.at(k))
			c.maybe("objects after", row.ObjectsAfterMB, p.GenObjSizeAfterMB.at(k))
		}
	} else {
		// Who did not update them left them as they were.
		c.old("fragmentation", row.FragmentationMB, sum.freeBefore/1e6, p.GenFragmentationMB.at(k))
		c.old("objects after", row.ObjectsAfterMB, sum.before/1e6, p.GenObjSizeAfterMB.at(k))
	}
	c.survival(g, row, sum, p.SurvivalPercent.at(k))
	if k != 1 && k != 2 && k < len(p.UserAllocated) {
		c.allocated(i, k)
	}
}

// maybe compares a number that TraceEvent may lack.
func (c *collections) maybe(field string, ours measure.Float, theirs *float64) {
	c.t.Helper()
	if theirs != nil {
		c.same(field, ours, *theirs)
	}
}

// old compares a size that a collection did not update with the size before. TraceEvent has
// 0, or a value derived from 0.
func (c *collections) old(field string, ours measure.Float, before float64, theirs *float64) {
	c.t.Helper()
	c.same(field, ours, before)
	if theirs != nil && !nearly(ours.Or(-1), *theirs) {
		c.differs(whyUpdated)
	}
}

// survival compares the share of survivors: with that of all bytes, and with the mean of the
// percentages of the heaps.
func (c *collections) survival(g *gc.GC, row *gc.GenerationSizes, sum peerSums, theirs *float64) {
	collected := int(row.Generation) <= int(g.Generation) || g.Generation == 2
	switch {
	case !collected || sum.before == 0:
		c.is("survival", row.SurvivalPercent, measure.Float{})
	default:
		c.same("survival", row.SurvivalPercent, 100*sum.out/sum.before)
	}
	if theirs != nil && sum.heaps > 0 {
		c.rule("percent of survival", row.SurvivalPercent, *theirs, whySurvival, float64(sum.rate/sum.heaps))
	}
}

// allocated compares the allocations in a generation since the collection before.
func (c *collections) allocated(i, k int) {
	g, p := c.gcs[i], &c.peers[i]
	ours, theirs := g.Generations[k].AllocatedMB, p.UserAllocated[k]
	switch {
	case nearly(ours.Or(-1), theirs):
		c.count()
		return
	case i == 0 && k == 4:
		c.rule("allocated", ours, theirs, whyPinnedTicks, p.ticked(k))
		return
	case i == 0:
		c.rule("allocated", ours, theirs, whyUnknown, p.ticked(k))
		return
	case g.Kind == gc.Background || c.betweenPauses(i):
		c.differs(whySwept) // programs know better: see TestAllocatedTruth of package gc
		return
	}
	before := c.peers[i-1].sum(k)
	left := before.after
	if !c.updated(i-1, k) { // it left them as they were
		left = before.before
	}
	c.same("allocated, by histories", ours, max(0, p.sum(k).before-left)/1e6)
	c.allocatedThere(i, k, ours, theirs)
}

// allocatedThere compares the allocations where TraceEvent has its own way of it.
func (c *collections) allocatedThere(i, k int, ours measure.Float, theirs float64) {
	switch {
	case nearly(ours.Or(-1), theirs):
		c.count()
	case theirs < 0:
		c.differs(whySwept)
	case !c.updated(i-1, k):
		c.differs(whyUpdated)
	default:
		c.same("allocated", ours, theirs)
	}
}

// updated reports whether a collection tells the rest of a generation.
func (c *collections) updated(i, k int) bool {
	h := c.gcs[i].HeapHistories
	return len(h) > 0 && k < len(h[0].Generations) && h[0].Generations[k].Updated
}

// rollups compares the sums of all collections and of each generation. Those that
// depend on figures that differ are left out.
func (c *collections) rollups(theirs *peerRuntime) {
	rows := []*gc.Rollup{&c.runtime.All}
	peers := []*peerRollup{theirs.Total}
	for i := range c.runtime.ByGeneration {
		if i < len(theirs.Generations) {
			rows, peers = append(rows, &c.runtime.ByGeneration[i]), append(peers, theirs.Generations[i])
		}
	}
	for i, p := range peers {
		ours := rows[i]
		if p == nil {
			continue
		}
		c.where = fmt.Sprintf("sums %d: ", i)
		c.is("count", ours.Count, p.Count)
		if ours.Count == 0 {
			continue
		}
		pinned := 0.0
		for _, g := range c.gcs {
			if g.Complete() && (ours.Generation < 0 || g.Generation == ours.Generation) {
				pinned += pinnedPromoted(g)
			}
		}
		c.rule("promoted", measure.Known(ours.PromotedMB), p.TotalPromotedMB, whyPinned, ours.PromotedMB-pinned)
		c.same("mean size after", ours.MeanAfterMB, p.MeanSizeAfterMB)
		if c.samePauses() {
			c.same("pauses", measure.Known(ours.PauseMS.Total), p.TotalPauseTimeMSec)
			c.same("longest pause", ours.PauseMS.Max, p.MaxPauseDurationMSec)
			c.same("mean pause", ours.PauseMS.Mean, p.MeanPauseDurationMSec)
		}
	}
	c.where = ""
}

// samePauses reports whether all pauses are equal on both sides.
func (c *collections) samePauses() bool {
	for i, g := range c.gcs {
		if !nearly(g.PauseMS.Or(-1), c.peers[i].PauseDurationMSec) {
			return false
		}
	}
	return true
}
