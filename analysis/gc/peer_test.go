package gc

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/page"
)

// peerGC is what TraceEvent says of a collection.
type peerGC struct {
	Number                                                      uint32
	Generation                                                  int
	Type, Reason                                                int
	GCGenerationName                                            string
	PauseStartRelativeMSec, StartRelativeMSec                   float64
	PauseDurationMSec, SuspendDurationMSec, DurationMSec        float64
	HeapSizeBeforeMB, HeapSizeAfterMB, HeapSizePeakMB           float64
	PromotedMB, RatioPeakAfter                                  float64
	PauseTimePercentageSinceLastGC, AllocRateMBSec              float64
	GenSizeBeforeMB                                             []float64
	GenSizeAfterMB, GenFragmentationMB, GenFragmentationPercent peerGens
	GenInMB, GenOutMB, GenPromotedMB, GenBudgetMB               peerGens
	GenObjSizeAfterMB, SurvivalPercent                          peerGens
	UserAllocated                                               []float64
	AllocedSinceLastGCBasedOnAllocTickMB                        []float64
	IsComplete                                                  bool
	HeapCount                                                   int
	HeapStats                                                   *peerStats
	GlobalHeapHistory                                           *peerGlobal
	PerHeapHistories                                            []peerHeap
	CommittedUsageBefore, CommittedUsageAfter                   *peerCommitted
	FreeList                                                    peerFreeList
	PerHeapMarkTimes                                            map[string]struct{ MarkPromoted, MarkTimes []float64 }
}

type peerGens struct{ Gen0, Gen1, Gen2, GenLargeObj, GenPinObj *float64 }

func (g peerGens) at(i int) *float64 {
	return []*float64{g.Gen0, g.Gen1, g.Gen2, g.GenLargeObj, g.GenPinObj}[i]
}

type peerStats struct {
	FinalizationPromotedCount, FinalizationPromotedSize float64
	GCHandleCount, PinnedObjectCount, SinkBlockCount    float64
}

type peerGlobal struct {
	CondemnedGeneration, NumHeaps, Reason int
	MemoryPressure                        float64
	Times                                 []uint32
}

type peerHeap struct {
	CondemnReasons0, CondemnReasons1, ExtraGen0Commit           uint64
	FreeListAllocated, FreeListRejected, EndOfSegAllocated      uint64
	CondemnedAllocated, PinnedAllocated, PinnedAllocatedAdvance uint64
	RunningFreeListEfficiency                                   uint32
	GenData                                                     []peerHeapGen
}

type peerHeapGen struct {
	Budget                                     int64
	FreeListSpaceAfter, FreeListSpaceBefore    uint64
	FreeObjSpaceAfter, FreeObjSpaceBefore      uint64
	In, Out, PinnedSurv, SizeAfter, SizeBefore uint64
}

type peerCommitted struct {
	TotalBookkeepingCommitted, TotalCommittedInFree, TotalCommittedInGlobalDecommit uint64
	TotalCommittedInGlobalFree, TotalCommittedInUse                                 uint64
}

type peerFreeList struct {
	Allocated, FreeListConsumed uint64
	Valid                       bool
}

type peerRuntime struct {
	Process struct{ ID int64 }
	GCs     []peerGC
	Total   struct {
		Count                                                                int
		TotalPauseTimeMSec, TotalAllocatedMB, TotalPromotedMB, MaxSizePeakMB float64
		MeanSizeAfterMB, MaxPauseDurationMSec, MeanPauseDurationMSec         float64
		FinalizedObjects                                                     map[string]uint64
	}
	Settings *struct {
		BitSettings, HighMemPercentConfig                                                       uint32
		Gen0MaxBudgetConfig, Gen0MinBudgetConfig, HardLimit, LOHThreshold, PhysicalMemoryConfig uint64
	}
}

// A comparison counts the fields that were compared, and explains differences by
// rules: each has a reason, and none is tied to a file.
type comparison struct {
	t        *testing.T
	where    string
	compared int
	reasons  map[string]int
}

// same compares a number of ours with one of TraceEvent's, to the precision of
// its arithmetic.
func (c *comparison) same(field string, ours measure.Float, theirs float64, why string) {
	c.t.Helper()
	c.compared++
	v, ok := ours.Get()
	if ok && math.Abs(v-theirs) <= 1e-7+1e-9*math.Abs(theirs) {
		return
	}
	if why != "" {
		c.reasons[why]++
		return
	}
	c.t.Errorf("%s: %s is %v, and TraceEvent says %v", c.where, field, ours, theirs)
}

func (c *comparison) equal(field string, ours, theirs any) {
	c.t.Helper()
	c.compared++
	if ours != theirs {
		c.t.Errorf("%s: %s is %v, and TraceEvent says %v", c.where, field, ours, theirs)
	}
}

// The reasons for which our numbers differ from TraceEvent's.
const (
	gapReason      = "the time between the end of suspending and the second begin belongs to nobody there"
	blockingReason = "a background collection that was done blocking has the whole suspension as its pause here"
	previousReason = "time since the previous collection is counted from the end of its pause here, from its HeapStats there"
	survivalReason = "survival is truncated to a whole percentage there, of each heap, and that of uncollected generations is 0"
	serverReason   = "the histories of a background collection of server GC are not found there"
	negativeReason = "an allocation that is negative because a background collection swept meanwhile is 0 here"
	peakReason     = "the peak may be below the size after there"
	indexReason    = "heaps are paired by their index there, which is wrong when their number changes"
	updatedReason  = "what runtimes before .NET 5 leave out of the sizes after is 0 there"
	repeatedReason = "dependent handles are marked twice on a heap, and one of the times is lost there"
	unknownReason  = "what was allocated before the first collection is unknown here without allocation ticks, 0 there"
	pohReason      = "pinned objects allocated before the first collection are given the ticks of large ones there"
)

var update = flag.Bool("update", false, "write what was compared to docs/accuracy.md")

// writeAgreement writes what was compared to the page that says how right figures are.
func writeAgreement(t *testing.T, traces, compared int, reasons map[string]int) {
	explained := 0
	var whys strings.Builder
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		explained += reasons[why]
		fmt.Fprintf(&whys, "| %d | %s |\n", reasons[why], why)
	}
	root := filepath.Join("..", "..")
	page.Replace(t, root, "accuracy.md", "collections", page.Topics+fmt.Sprintf("| collections | %d | %d | %d | %d |\n", traces, compared, compared-explained, explained))
	page.Replace(t, root, "accuracy.md", "collection reasons", page.Reasons+whys.String())
}

func TestTraceEventAgrees(t *testing.T) {
	reasons := map[string]int{}
	compared, collections, traces := 0, 0, 0
	for _, path := range testtrace.All(t) {
		var peer struct{ GC []peerRuntime }
		if !testtrace.Peer(t, path, &peer) {
			continue
		}
		var mux etw.Mux
		a := New(&mux)
		testtrace.Run(t, &mux, path)
		byPID := map[int64]*Runtime{}
		for _, rt := range a.Result().Runtimes {
			byPID[rt.PID] = rt
		}
		if len(peer.GC) > 0 && len(peer.GC[0].GCs) > 0 {
			traces++
		}
		for i := range peer.GC {
			theirs := &peer.GC[i]
			ours := byPID[theirs.Process.ID]
			if ours == nil {
				if len(theirs.GCs) > 0 {
					t.Errorf("%s: process %d has no collections", testtrace.Name(path), theirs.Process.ID)
				}
				continue
			}
			c := &comparison{t: t, where: testtrace.Name(path), reasons: reasons}
			compareRuntime(c, ours, theirs)
			compared += c.compared
			collections += len(theirs.GCs)
		}
	}
	if collections == 0 {
		t.Skip("the corpus has no answers of TraceEvent")
	}
	t.Logf("%d fields of %d collections compared", compared, collections)
	if *update && !t.Failed() {
		writeAgreement(t, traces, compared, reasons)
	}
	for why, n := range reasons {
		t.Logf("%6d differences: %s", n, why)
	}
}

func compareRuntime(c *comparison, ours *Runtime, theirs *peerRuntime) {
	c.equal("the number of collections", len(ours.GCs), len(theirs.GCs))
	if len(ours.GCs) != len(theirs.GCs) {
		return
	}
	file := c.where
	for i, g := range ours.GCs {
		c.where = fmt.Sprintf("%s: %s %d", file, g.Name, g.Number)
		compareGC(c, ours, i, theirs.GCs)
	}
	c.where = file
	if s := theirs.Settings; s != nil && ours.Settings != nil {
		c.equal("BitSettings", ours.Settings.BitSettings, s.BitSettings)
		c.equal("HardLimit", ours.Settings.HardLimitBytes, s.HardLimit)
		c.equal("LOHThreshold", ours.Settings.LOHThresholdBytes, s.LOHThreshold)
		c.equal("Gen0MinBudget", ours.Settings.Gen0MinBudgetBytes, s.Gen0MinBudgetConfig)
		c.equal("Gen0MaxBudget", ours.Settings.Gen0MaxBudgetBytes, s.Gen0MaxBudgetConfig)
		c.equal("PhysicalMemory", ours.Settings.PhysicalMemoryBytes, s.PhysicalMemoryConfig)
	}
}

func compareGC(c *comparison, rt *Runtime, i int, all []peerGC) {
	g, p := rt.GCs[i], &all[i]
	kinds := map[Kind]int{Blocking: 0, Background: 1, Foreground: 2}
	c.equal("Number", g.Number, p.Number)
	c.equal("Generation", int(g.Generation), p.Generation)
	c.equal("Type", kinds[g.Kind], p.Type)
	c.equal("Name", g.Name, p.GCGenerationName)
	c.equal("IsComplete", g.Complete(), p.IsComplete)
	c.same("PauseStart", measure.Known(g.StartMS), p.PauseStartRelativeMSec, "")
	c.same("Start", g.BeginMS, p.StartRelativeMSec, "")
	why := ""
	if g.Kind == Background {
		why = gapReason
		if g.DoneBlocking {
			why = blockingReason
		}
		if d := g.PauseMS.Or(0) - p.PauseDurationMSec; d < -2e-4 || !g.DoneBlocking && d > 1 {
			c.t.Errorf("%s: the pause is %v, and TraceEvent says %v", c.where, g.PauseMS, p.PauseDurationMSec)
		}
	}
	c.same("PauseDuration", g.PauseMS, p.PauseDurationMSec, why)
	c.same("SuspendDuration", g.SuspendMS, p.SuspendDurationMSec, why)
	c.same("Duration", g.DurationMS, p.DurationMSec, "")
	c.same("after", g.AfterMB, p.HeapSizeAfterMB, "")
	c.same("promoted", g.PromotedMB, p.PromotedMB, "")
	compareStats(c, g, p)
	compareMarks(c, g, p)
	compareHeaps(c, rt, i, all)
}

func compareStats(c *comparison, g *GC, p *peerGC) {
	if s := p.HeapStats; s != nil {
		c.same("FinalizationPromotedSize", g.FinalizableMB, s.FinalizationPromotedSize/1e6, "")
		c.same("FinalizationPromotedCount", g.FinalizableCount, s.FinalizationPromotedCount, "")
		c.same("PinnedObjectCount", g.PinnedObjects, s.PinnedObjectCount, "")
		c.same("GCHandleCount", g.Handles, s.GCHandleCount, "")
		c.same("SinkBlockCount", g.SyncBlocks, s.SinkBlockCount, "")
	}
	committed := func(p *peerCommitted) *Committed {
		if p == nil {
			return nil
		}
		return &Committed{p.TotalCommittedInUse, p.TotalCommittedInGlobalDecommit, p.TotalCommittedInFree,
			p.TotalCommittedInGlobalFree, p.TotalBookkeepingCommitted}
	}
	if want := committed(p.CommittedUsageBefore); want != nil {
		c.equal("committed before", *g.CommittedBefore, *want)
	}
	if want := committed(p.CommittedUsageAfter); want != nil {
		c.equal("committed after", *g.CommittedAfter, *want)
	}
	for i := range p.AllocedSinceLastGCBasedOnAllocTickMB {
		c.same(fmt.Sprintf("ticked %d", i), measure.Known(g.TickedMB[i]), p.AllocedSinceLastGCBasedOnAllocTickMB[i], "")
	}
}

// compareMarks compares the marks of each heap by the kind of roots. Of those that
// come twice on a heap, TraceEvent keeps the last.
func compareMarks(c *comparison, g *GC, p *peerGC) {
	for heap, marks := range p.PerHeapMarkTimes {
		for root, name := range rootNames {
			var ours []Mark
			for _, m := range g.Marks {
				if m.Root == name && fmt.Sprint(m.Heap) == heap {
					ours = append(ours, m)
				}
			}
			if len(ours) != 1 || root >= len(marks.MarkTimes) {
				continue
			}
			why := ""
			if root > int(rootOlder) {
				why = repeatedReason
			}
			c.same("mark "+name, measure.Known(ours[0].TookMS), marks.MarkTimes[root], why)
			c.same("promoted by "+name, measure.Known(ours[0].PromotedMB.Or(0)), marks.MarkPromoted[root]/1e6, "")
		}
	}
}

func compareHeaps(c *comparison, rt *Runtime, i int, all []peerGC) {
	g, p := rt.GCs[i], &all[i]
	if g.Heaps > 1 && g.Kind == Background && len(p.PerHeapHistories) == 0 {
		c.reasons[serverReason]++
		return
	}
	c.equal("heaps", len(g.HeapHistories), len(p.PerHeapHistories))
	if len(g.HeapHistories) != len(p.PerHeapHistories) {
		return
	}
	for k := range p.PerHeapHistories {
		compareHeap(c, &g.HeapHistories[k], &p.PerHeapHistories[k])
	}
	if p.GlobalHeapHistory != nil {
		c.equal("CondemnedGeneration", int(g.Generation), p.GlobalHeapHistory.CondemnedGeneration)
		c.same("MemoryPressure", g.MemoryLoadPercent, p.GlobalHeapHistory.MemoryPressure, "")
	}
	if p.FreeList.Valid {
		c.equal("free list allocated", g.FreeList.AllocatedBytes, p.FreeList.Allocated)
		c.equal("free list consumed", g.FreeList.ConsumedBytes, p.FreeList.FreeListConsumed)
	}
	if len(p.PerHeapHistories) > 0 {
		c.same("before", g.BeforeMB, p.HeapSizeBeforeMB, "")
	}
	peak := ""
	if p.HeapSizePeakMB < p.HeapSizeAfterMB {
		peak = peakReason
	}
	if len(p.PerHeapHistories) > 0 {
		c.same("peak", g.PeakMB, p.HeapSizePeakMB, peak)
	}
	compareGenerations(c, rt, i, all)
}

func compareHeap(c *comparison, h *Heap, p *peerHeap) {
	c.equal("CondemnReasons0", uint64(h.CondemnReasons0), p.CondemnReasons0)
	c.equal("CondemnReasons1", uint64(h.CondemnReasons1), p.CondemnReasons1)
	c.equal("ExtraGen0Commit", h.ExtraGen0Commit, p.ExtraGen0Commit)
	c.equal("FreeListAllocated", h.FreeListAllocated, p.FreeListAllocated)
	c.equal("FreeListRejected", h.FreeListRejected, p.FreeListRejected)
	c.equal("EndOfSegAllocated", h.EndOfSegAllocated, p.EndOfSegAllocated)
	c.equal("CondemnedAllocated", h.CondemnedAllocated, p.CondemnedAllocated)
	c.equal("PinnedAllocated", h.PinnedAllocated, p.PinnedAllocated)
	c.equal("PinnedAllocatedAdvance", h.PinnedAllocatedAdvance, p.PinnedAllocatedAdvance)
	c.equal("RunningFreeListEfficiency", h.RunningFreeListEfficiency, p.RunningFreeListEfficiency)
	for i := range min(len(p.GenData), generations) {
		o, g := h.Generations[i], p.GenData[i]
		ours := [...]uint64{o.SizeBefore, o.FreeListBefore, o.FreeObjBefore, o.SizeAfter, o.FreeListAfter, o.FreeObjAfter, o.In, o.Out, o.PinnedOut, o.Budget}
		theirs := [...]uint64{g.SizeBefore, g.FreeListSpaceBefore, g.FreeObjSpaceBefore, g.SizeAfter, g.FreeListSpaceAfter, g.FreeObjSpaceAfter, g.In, g.Out, g.PinnedSurv, uint64(g.Budget)}
		c.equal(fmt.Sprintf("generation %d of a heap", i), ours, theirs)
	}
}

func compareGenerations(c *comparison, rt *Runtime, i int, all []peerGC) {
	g, p := rt.GCs[i], &all[i]
	if len(p.PerHeapHistories) == 0 {
		return
	}
	changed := i > 0 && len(all[i-1].PerHeapHistories) != len(p.PerHeapHistories)
	for k := range g.Generations {
		row := &g.Generations[k]
		name := fmt.Sprintf(" of generation %d", k)
		old := ""
		if k < len(g.HeapHistories[0].Generations) && !g.HeapHistories[0].Generations[k].Updated {
			old = updatedReason
		}
		number := func(field string, ours measure.Float, theirs *float64, why string) {
			c.t.Helper()
			if theirs != nil {
				c.same(field+name, ours, *theirs, why)
			}
		}
		if k < len(p.GenSizeBeforeMB) {
			c.same("before"+name, row.BeforeMB, p.GenSizeBeforeMB[k], "")
		}
		number("after", row.AfterMB, p.GenSizeAfterMB.at(k), "")
		number("fragmentation", row.FragmentationMB, p.GenFragmentationMB.at(k), old)
		number("fragmentation %", row.FragmentationPercent, p.GenFragmentationPercent.at(k), old)
		number("in", row.InMB, p.GenInMB.at(k), "")
		number("out", row.OutMB, p.GenOutMB.at(k), "")
		number("objects after", row.ObjectsAfterMB, p.GenObjSizeAfterMB.at(k), old)
		if v := p.SurvivalPercent.at(k); v != nil {
			number("survival", row.SurvivalPercent, v, survivalReason)
			if ours := row.SurvivalPercent.Or(*v); math.Abs(ours-min(*v, 100)) >= 1 && len(p.PerHeapHistories) == 1 {
				c.t.Errorf("%s: survival of generation %d is %v, and TraceEvent says %v", c.where, k, ours, *v)
			}
		}
		if k != 1 && k != 2 && k < len(p.UserAllocated) {
			why := ""
			switch {
			case p.UserAllocated[k] < 0:
				why = negativeReason
			case changed:
				why = indexReason
			case i == 0 && rt.TickedMB == 0:
				why = unknownReason
			case i == 0 && k == 4:
				why = pohReason
			case i > 0 && rt.GCs[i-1].Kind == Background && len(all[i-1].PerHeapHistories) == 0:
				why = serverReason
			}
			c.same("allocated"+name, row.AllocatedMB, p.UserAllocated[k], why)
		}
	}
}
