package gc

import (
	"time"

	"github.com/etwgen/etwgen/analysis/measure"
)

// A Kind says how a collection runs beside the program.
type Kind string

// The kinds of collections.
const (
	Blocking   Kind = "blocking"   // all threads stand still
	Background Kind = "background" // generation 2, most of it while threads run
	Foreground Kind = "foreground" // blocking, while a background collection is under way
)

// A Generation is the number of a generation; that of the large object heap is 3,
// that of the pinned object heap 4. A negative one is unknown.
type Generation int8

// IsZero reports whether g is unknown, for the tag omitzero.
func (g Generation) IsZero() bool { return g < 0 }

// A GC is one garbage collection.
type GC struct {
	Number     uint32     `json:"number,omitempty"` // 0 is unknown
	Generation Generation `json:"generation,omitzero"`
	Kind       Kind       `json:"kind,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	// Name is the generation, N, B or F for the kind, and I if the program asked
	// for the collection, or i if it left open whether that blocks: 2BI.
	Name    string `json:"name,omitempty"`
	Induced bool   `json:"induced,omitempty"`

	// StartMS is when its pause began: when the suspension of the threads was
	// asked for. The second collection in one suspension begins where it itself
	// begins.
	StartMS float64 `json:"startMs"`
	// Start is the same, for programs: a point in time, not one since the session began.
	Start time.Time `json:"-"`
	// BeginMS is when the collection itself began, with all threads stopped.
	BeginMS measure.Float `json:"beginMs,omitzero"`
	// SuspendMS is the time that it took to stop the threads, part of PauseMS; for a
	// background collection that of all its pauses.
	SuspendMS measure.Float `json:"suspendMs,omitzero"`
	// PauseMS is how long threads were stopped for the collection, from the request
	// to stop them until they run again. For a background collection it is the sum
	// of its pauses, which InitialPauseMS and FinalPauseMS tell apart.
	PauseMS        measure.Float `json:"pauseMs,omitzero"`
	InitialPauseMS measure.Float `json:"initialPauseMs,omitzero"`
	FinalPauseMS   measure.Float `json:"finalPauseMs,omitzero"`
	// DurationMS is the time from the begin of the collection itself to its end.
	DurationMS measure.Float `json:"durationMs,omitzero"`
	// PausePercent is PauseMS of the time since the last pause for a collection
	// ended, the pause included; for a background collection PauseMS of the time
	// from the end of the last pause to the end of the collection. Before the first
	// pause stands the begin of the session.
	PausePercent measure.Float `json:"pausePercent,omitzero"`

	// BeforeMB and AfterMB are the sizes of the heap with its fragmentation. PeakMB
	// is the larger one, and of a background collection the largest before any
	// collection while it ran; PeakAfterRatio is PeakMB of AfterMB.
	BeforeMB       measure.Float `json:"beforeMB,omitzero"`
	AfterMB        measure.Float `json:"afterMB,omitzero"`
	PeakMB         measure.Float `json:"peakMB,omitzero"`
	PeakAfterRatio measure.Float `json:"peakAfterRatio,omitzero"`
	// PromotedMB is the bytes that survived; of a background collection those that it marked.
	PromotedMB measure.Float `json:"promotedMB,omitzero"`
	// AllocatedMB is the allocations since the collection before, on all heaps, and
	// AllocationRateMBPerSec the same per second in which the program could run.
	AllocatedMB            measure.Float `json:"allocatedMB,omitzero"`
	AllocationRateMBPerSec measure.Float `json:"allocationRateMBPerSec,omitzero"`
	// AllocatedByTicks says that AllocatedMB is the sum of allocation ticks.
	AllocatedByTicks bool `json:"allocatedByTicks,omitempty"`
	// TickedMB is the sum of the allocation ticks since the last collection
	// finished, on the heaps for small, large and pinned objects.
	TickedMB [3]float64 `json:"tickedMB"`

	// Generations has generation 0, 1, 2, the large and the pinned object heap.
	Generations []GenerationSizes `json:"generations,omitempty"`

	// FinalizableMB is the size of objects that survived only to be finalized.
	FinalizableMB    measure.Float `json:"finalizableMB,omitzero"`
	FinalizableCount measure.Float `json:"finalizableCount,omitzero"`
	PinnedObjects    measure.Float `json:"pinnedObjects,omitzero"`
	SyncBlocks       measure.Float `json:"syncBlocks,omitzero"`
	Handles          measure.Float `json:"handles,omitzero"`

	Heaps int `json:"heaps,omitempty"` // that were collected
	// Compacting reports whether any heap was compacted.
	Compacting *bool `json:"compacting,omitempty"`
	// MemoryLoadPercent is how much of the machine's memory is in use.
	MemoryLoadPercent measure.Float `json:"memoryLoadPercent,omitzero"`
	PauseMode         string        `json:"pauseMode,omitempty"`
	Mechanisms        string        `json:"mechanisms,omitempty"`
	Condemned         *Condemned    `json:"condemned,omitempty"`
	Times             *Times        `json:"times,omitempty"`
	Marks             []Mark        `json:"marks,omitempty"`
	HeapHistories     []Heap        `json:"heapHistories,omitempty"`
	// FreeList tells how well survivors fit into the holes of generation 2; only
	// collections of generation 1 have it.
	FreeList        *FreeList  `json:"freeList,omitempty"`
	Pinned          *Pinned    `json:"pinned,omitempty"`
	CommittedBefore *Committed `json:"committedBefore,omitempty"`
	CommittedAfter  *Committed `json:"committedAfter,omitempty"`
	Dynamic         []Dynamic  `json:"dynamic,omitempty"`

	// CPUMS is the processor time of the threads that made the collection, while it
	// was on, and CPUPercent that of the process since the last collection ended.
	// Both are known only from the kernel's samples.
	CPUMS      measure.Float `json:"cpuMs,omitzero"`
	CPUPercent measure.Float `json:"cpuPercent,omitzero"`

	// TriggerThread is the thread that caused the collection, 0 if unknown.
	TriggerThread int64 `json:"triggerThread,omitempty"`

	// DoneBlocking says of a background collection that it ended before any thread
	// was released.
	DoneBlocking bool `json:"doneBlocking,omitempty"`
	// SuspensionMissing says that the trace has no suspension for the collection.
	// PauseMS of a blocking one is then DurationMS, and not part of the sums.
	SuspensionMissing bool `json:"suspensionMissing,omitempty"`
	// Partial says that the begin of the collection was not seen; Unfinished that
	// its end was not. Both are in no sum and no mean.
	Partial    bool `json:"partial,omitempty"`
	Unfinished bool `json:"unfinished,omitempty"`
}

// Complete reports whether all records of the collection are there.
func (g *GC) Complete() bool { return !g.Partial && !g.Unfinished }

// GenerationSizes are the sizes of one generation before and after a collection, the sum of all
// heaps.
type GenerationSizes struct {
	Generation Generation    `json:"generation"`
	BeforeMB   measure.Float `json:"beforeMB,omitzero"`
	AfterMB    measure.Float `json:"afterMB,omitzero"`
	PromotedMB measure.Float `json:"promotedMB,omitzero"`
	// AllocatedMB is the allocations in it since the collection before. It is unknown for
	// generation 1 and 2, in which programs do not allocate.
	AllocatedMB measure.Float `json:"allocatedMB,omitzero"`
	// InMB came in from a younger generation; OutMB survived.
	InMB  measure.Float `json:"inMB,omitzero"`
	OutMB measure.Float `json:"outMB,omitzero"`
	// SurvivalPercent is OutMB of ObjectsBeforeMB. It is unknown for generations that were
	// not collected. It can be more than 100: the surroundings of a pinned object survive
	// with it, and objects that a background collection found alive may have come after its
	// begin.
	SurvivalPercent measure.Float `json:"survivalPercent,omitzero"`
	// FragmentationMB is the free space inside of it after the collection, and
	// FragmentationPercent that of AfterMB.
	FragmentationMB      measure.Float `json:"fragmentationMB,omitzero"`
	FragmentationPercent measure.Float `json:"fragmentationPercent,omitzero"`
	// ObjectsBeforeMB and ObjectsAfterMB are the sizes without free space.
	ObjectsBeforeMB measure.Float `json:"objectsBeforeMB,omitzero"`
	ObjectsAfterMB  measure.Float `json:"objectsAfterMB,omitzero"`
	// BudgetMB is how much may be allocated until it is collected again.
	BudgetMB measure.Float `json:"budgetMB,omitzero"`
}

// A Mark says when a heap was done with marking from one kind of roots, and how much it
// found alive from there.
type Mark struct {
	Heap uint32 `json:"heap"`
	Root string `json:"root"`
	// TookMS is the time since the mark before on the same heap, or since the
	// begin of the collection.
	TookMS     float64       `json:"tookMs"`
	PromotedMB measure.Float `json:"promotedMB,omitzero"`
}

// Times are the durations of phases of a blocking collection, as the runtime
// measured them in microseconds.
type Times struct {
	MarkRootsUS        measure.Float `json:"markRootsUs,omitzero"`
	ShortWeakUS        measure.Float `json:"shortWeakUs,omitzero"`
	ScanFinalizationUS measure.Float `json:"scanFinalizationUs,omitzero"`
	LongWeakUS         measure.Float `json:"longWeakUs,omitzero"`
	PlanUS             measure.Float `json:"planUs,omitzero"`
	RelocateUS         measure.Float `json:"relocateUs,omitzero"`
	CompactUS          measure.Float `json:"compactUs,omitzero"`
	SweepUS            measure.Float `json:"sweepUs,omitzero"`
}

// FreeList is the use of the free list of generation 2.
type FreeList struct {
	AllocatedBytes uint64 `json:"allocatedBytes"`
	// ConsumedBytes is the bytes allocated and those rejected as too small.
	ConsumedBytes uint64 `json:"consumedBytes"`
	// EfficiencyPercent is the allocated part of the consumed bytes.
	EfficiencyPercent measure.Float `json:"efficiencyPercent,omitzero"`
}

// Pinned counts the pinned objects of a collection.
type Pinned struct {
	Objects int    `json:"objects"` // different ones
	Bytes   uint64 `json:"bytes"`
	// PlugBytes are those in blocks that could not be moved, and UserPlugBytes
	// those of them that hold an object that was pinned.
	PlugBytes     uint64 `json:"plugBytes,omitempty"`
	UserPlugBytes uint64 `json:"userPlugBytes,omitempty"`
}
