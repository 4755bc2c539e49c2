package peers

import (
	"encoding/json"

	"github.com/etwgen/etwgen/generated/clr"
)

// A peerRuntime is TraceEvent's account of the collections of a process.
type peerRuntime struct {
	Process     struct{ ID int64 }
	GCs         []peerGC
	Total       *peerRollup
	Generations []*peerRollup
	Settings    *struct {
		BitSettings, HighMemPercentConfig                                                       uint32
		Gen0MaxBudgetConfig, Gen0MinBudgetConfig, HardLimit, LOHThreshold, PhysicalMemoryConfig uint64
	}
}

type peerRollup struct {
	Count                                                      int
	TotalPauseTimeMSec, TotalPromotedMB, MeanSizeAfterMB       float64
	MaxPauseDurationMSec, MeanPauseDurationMSec, MaxSizePeakMB float64
}

type peerGC struct {
	Number                                                      uint32
	Generation, Type                                            int
	Reason                                                      clr.GCReason
	GCGenerationName                                            string
	PauseStartRelativeMSec, StartRelativeMSec                   float64
	PauseDurationMSec, SuspendDurationMSec, DurationMSec        float64
	HeapSizeBeforeMB, HeapSizeAfterMB, HeapSizePeakMB           float64
	PromotedMB, RatioPeakAfter                                  float64
	GenSizeBeforeMB                                             []float64
	GenSizeAfterMB, GenFragmentationMB, GenFragmentationPercent peerGens
	GenInMB, GenOutMB, GenObjSizeAfterMB, SurvivalPercent       peerGens
	UserAllocated                                               []float64
	AllocedSinceLastGCBasedOnAllocTickMB                        []float64
	IsComplete                                                  bool
	HeapStats                                                   *peerStats
	GlobalHeapHistory                                           *peerGlobal
	PerHeapHistories                                            []peerHistory
	CommittedUsageBefore, CommittedUsageAfter                   *peerCommitted
	FreeList                                                    peerFreeList
	PerHeapMarkTimes                                            map[string]struct{ MarkPromoted, MarkTimes []float64 }
	DynamicEvents                                               []struct{ Name, Payload string }
}

type peerGens struct{ Gen0, Gen1, Gen2, GenLargeObj, GenPinObj *float64 }

func (g peerGens) at(i int) *float64 {
	return []*float64{g.Gen0, g.Gen1, g.Gen2, g.GenLargeObj, g.GenPinObj}[i]
}

type peerStats struct {
	FinalizationPromotedCount                                  float64
	FinalizationPromotedSize                                   json.Number // in quotes where it is large
	GCHandleCount, PinnedObjectCount, SinkBlockCount           float64
	TotalPromotedSize0, TotalPromotedSize1, TotalPromotedSize2 float64
	TotalPromotedSize3, TotalPromotedSize4                     float64
}

type peerGlobal struct {
	CondemnedGeneration, NumHeaps, PauseMode int
	GlobalMechanisms                         uint32
	MemoryPressure                           float64
	Times                                    []uint32
}

type peerHistory struct {
	CondemnReasons0, CondemnReasons1, ExtraGen0Commit           uint64
	FreeListAllocated, FreeListRejected, EndOfSegAllocated      uint64
	CondemnedAllocated, PinnedAllocated, PinnedAllocatedAdvance uint64
	RunningFreeListEfficiency                                   uint32
	CompactMechanisms, ExpandMechanisms                         uint32
	GenData                                                     []peerHeapGen
}

type peerHeapGen struct {
	Budget                                     int64
	FreeListSpaceAfter, FreeListSpaceBefore    uint64
	FreeObjSpaceAfter, FreeObjSpaceBefore      uint64
	In, Out, PinnedSurv, SizeAfter, SizeBefore uint64
	SurvRate                                   int
}

type peerCommitted struct {
	TotalBookkeepingCommitted, TotalCommittedInFree, TotalCommittedInGlobalDecommit uint64
	TotalCommittedInGlobalFree, TotalCommittedInUse                                 uint64
}

type peerFreeList struct {
	Allocated, FreeListConsumed uint64
	Valid                       bool
}
