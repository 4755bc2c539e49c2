package gc

import "github.com/etwgen/etwgen/analysis/measure"

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result is all that is known of the garbage collections in a trace. Its JSON
// form is a contract: see [Schema].
//
// Names end in units: ms are milliseconds, MB are 1,000,000 bytes. Points in time, such as
// StartMS, are milliseconds since the session began. Unknown values are left out.
type Result struct {
	Schema   int        `json:"schema"`
	Runtimes []*Runtime `json:"runtimes"` // those with collections or suspensions
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	// Life is 0 for the first process with this id in the trace, 1 for the next.
	Life int `json:"life,omitempty"`
	// FirstMS and LastMS are the times of the first and the last event of the
	// runtime that the analysis saw, SpanMS the time between them, or up to the rundown with
	// which a session ends, or the time that [Result.Recorded] says.
	FirstMS float64 `json:"firstMs"`
	LastMS  float64 `json:"lastMs"`
	SpanMS  float64 `json:"spanMs"`

	// Count is the number of collections listed, whether complete or not.
	Count int `json:"count"`
	// Unfinished collections are under way at the end; of Partial ones the begin
	// was not seen. MissingNumbers of collections are between the first and the
	// last one that are listed: they were lost, or no collection was made, as when
	// a region without collections begins or ends.
	Unfinished     int `json:"unfinished,omitempty"`
	Partial        int `json:"partial,omitempty"`
	MissingNumbers int `json:"missingNumbers,omitempty"`
	// NumbersBefore the first collection are of those before the recording or the time that was
	// asked for, or went as missing ones do.
	NumbersBefore int `json:"numbersBefore,omitempty"`

	// PauseMS is how long the threads were suspended for collections: the sum,
	// over all suspensions with the reasons 1 (for GC) and 6 (for GC preparation),
	// of the time from the request to suspend to the end of the restart. It is the
	// pauses of all collections and those in Suspensions.WithoutGC.
	PauseMS float64 `json:"pauseMs"`
	// RestartMS is the part of PauseMS after the runtime began to let threads go. On a busy
	// machine it is long, since the thread that does it has to wait for a processor. The
	// runtime's own total, GC.GetTotalPauseDuration, has less of it, or none.
	RestartMS float64 `json:"restartMs"`
	// PausePercent is PauseMS of SpanMS. PausePercentOfActive is PauseMS of the
	// time from the begin of the first of these suspensions to the end of the last.
	PausePercent         measure.Float `json:"pausePercent,omitzero"`
	PausePercentOfActive measure.Float `json:"pausePercentOfActive,omitzero"`
	// FirstToLastMS is the time from the begin of the first collection to the
	// begin of the last.
	FirstToLastMS measure.Float `json:"firstToLastMs,omitzero"`
	Suspensions   Suspensions   `json:"suspensions"`

	// Heaps is the number of heaps of the last complete collection; MinHeaps is the
	// smallest of all, and MaxHeaps the largest. A server GC may change it: see Tuning.
	Heaps    int `json:"heaps,omitempty"`
	MinHeaps int `json:"minHeaps,omitempty"`
	MaxHeaps int `json:"maxHeaps,omitempty"`
	// Tuning is the measurements and decisions of a server GC that adapts to the size of the
	// program (DATAS), in the order of time.
	Tuning []Tuning `json:"tuning,omitempty"`
	// ServerGC is left out where the trace does not tell.
	ServerGC *bool     `json:"serverGC,omitempty"`
	Settings *Settings `json:"settings,omitempty"`

	// CPUMS is the processor time of the process that samples of the kernel found since its
	// first event of the runtime, and GCCPUMS that of collections. GCCPUMSPerMB is the
	// latter by allocated MB.
	CPUMS        measure.Float `json:"cpuMs,omitzero"`
	GCCPUMS      measure.Float `json:"gcCpuMs,omitzero"`
	GCCPUMSPerMB measure.Float `json:"gcCpuMsPerMB,omitzero"`

	// AllocatedMB is the bytes allocated: by ticks, which tell of all of it, or as
	// collections found it. Allocations before the first and after the last of these are not
	// in it then, but the ends of memory that was handed out and not used are.
	AllocatedMB measure.Float `json:"allocatedMB,omitzero"`
	AllocatedBy string        `json:"allocatedBy,omitempty"` // ticks, collections, or "collections and ticks": the latter after the last one
	// TickedAfterMB is what the ticks of a runtime before .NET 5 say of the time after the last
	// collection. They are far from right, so that it is not in AllocatedMB.
	TickedAfterMB measure.Float `json:"tickedAfterMB,omitzero"`

	All          Rollup      `json:"all"`
	ByGeneration []Rollup    `json:"byGeneration"` // of generation 0, 1 and 2
	TickedMB     float64     `json:"tickedMB"`     // sum of the allocation ticks
	GCs          []*GC       `json:"gcs"`
	Finalizers   *Finalizers `json:"finalizers,omitempty"`
	// FinalizedTypes lists the types of finalized objects, the most frequent first.
	FinalizedTypes []TypeCount      `json:"finalizedTypes,omitempty"`
	AllocWaits     []AllocationWait `json:"allocationWaits,omitempty"`
}

// AllocatedIsWhole reports whether AllocatedMB has all of the trace, but for the time after the last
// collection: nobody tells what was allocated before the first one, if the trace began later than the
// program.
func (rt *Runtime) AllocatedIsWhole() bool {
	return !rt.AllocatedMB.IsZero() && (rt.AllocatedBy != "collections" || len(rt.GCs) > 0 && !rt.GCs[0].AllocatedMB.IsZero())
}

// A Tuning is the measurement of a server GC at one collection, and its decision.
type Tuning struct {
	AtMS    float64 `json:"atMs"`
	GCIndex uint64  `json:"gcIndex"`
	// Heaps is how many it is to have from then on, if it was decided about at this
	// collection, within MinHeaps and MaxHeaps.
	Heaps    measure.Float `json:"heaps,omitzero"`
	MinHeaps measure.Float `json:"minHeaps,omitzero"`
	MaxHeaps measure.Float `json:"maxHeaps,omitzero"`
	// BudgetMB is what each heap may allocate in generation 0 until the next collection, and
	// StableMB the size of the survivors.
	BudgetMB measure.Float `json:"budgetMB,omitzero"`
	StableMB measure.Float `json:"stableMB,omitzero"`
	// CostPercent is the median of the share of time that collections took lately.
	CostPercent measure.Float `json:"costPercent,omitzero"`
}

// Suspensions counts the other stops of the threads of a runtime, and the faults in the
// records of suspensions.
type Suspensions struct {
	ByReason []SuspensionReason `json:"byReason"` // in the order of the reasons' numbers
	// WithoutGC are suspensions for collections in which none began and that end
	// no background collection: it was decided that none is needed, or the record
	// of its begin was lost.
	WithoutGC   int     `json:"withoutGC,omitempty"`
	WithoutGCMS float64 `json:"withoutGCMs,omitempty"`
	// Open suspensions have no end in the trace. OpenMS, which is in no other
	// number, is how long they had lasted at the last event of the runtime.
	Open   int     `json:"open,omitempty"`
	OpenMS float64 `json:"openMs,omitempty"`
	// LostEnds and LostBegins count suspensions of which the trace has one end only.
	LostEnds   int `json:"lostEnds,omitempty"`
	LostBegins int `json:"lostBegins,omitempty"`
}

// A SuspensionReason is the sum of the suspensions for one reason. Those for the
// reason SuspendOther are mostly made by the sampling profiler of EventPipe.
type SuspensionReason struct {
	Reason  string  `json:"reason"`
	GC      bool    `json:"gc"` // they are part of PauseMS
	Count   int     `json:"count"`
	TotalMS float64 `json:"totalMs"`
	MaxMS   float64 `json:"maxMs"`
	// SuspendMS is the part until all threads were stopped, of those suspensions
	// whose record of that is there, and RestartMS that after they were let go.
	SuspendMS float64 `json:"suspendMs"`
	RestartMS float64 `json:"restartMs"`
}

// Settings are the settings of the collector, as the rundown of a runtime says.
type Settings struct {
	HardLimitBytes      uint64 `json:"hardLimitBytes"` // 0: none
	LOHThresholdBytes   uint64 `json:"lohThresholdBytes"`
	PhysicalMemoryBytes uint64 `json:"physicalMemoryBytes"` // as configured, 0: not
	Gen0MinBudgetBytes  uint64 `json:"gen0MinBudgetBytes"`
	Gen0MaxBudgetBytes  uint64 `json:"gen0MaxBudgetBytes"`
	HighMemoryPercent   uint32 `json:"highMemoryPercent"`
	Concurrent          bool   `json:"concurrent"`
	LargePages          bool   `json:"largePages"`
	FrozenSegments      bool   `json:"frozenSegments"`
	HardLimitConfigured bool   `json:"hardLimitConfigured"`
	WithoutAffinity     bool   `json:"withoutAffinity"`
	BitSettings         uint32 `json:"bitSettings"` // the bits themselves
}

// decode sets the fields of the bits.
func (s *Settings) decode() {
	s.Concurrent = s.BitSettings&1 != 0
	s.LargePages = s.BitSettings&2 != 0
	s.FrozenSegments = s.BitSettings&4 != 0
	s.HardLimitConfigured = s.BitSettings&8 != 0
	s.WithoutAffinity = s.BitSettings&16 != 0
}

// A Rollup sums up the complete collections of one generation, or of all.
type Rollup struct {
	Generation Generation `json:"generation,omitzero"` // left out of that of all
	Count      int        `json:"count"`
	Induced    int        `json:"induced"`
	Blocking   int        `json:"blocking"`
	Background int        `json:"background"`
	Foreground int        `json:"foreground"`

	PauseMS   measure.Summary `json:"pauseMs"`
	SuspendMS measure.Summary `json:"suspendMs"`
	// MaxPeakMB is the largest heap before or after a collection, MeanAfterMB the
	// mean size after.
	MaxPeakMB   measure.Float `json:"maxPeakMB,omitzero"`
	MeanAfterMB measure.Float `json:"meanAfterMB,omitzero"`
	// MaxAllocationRateMBPerSec is the largest of a collection.
	MaxAllocationRateMBPerSec measure.Float `json:"maxAllocationRateMBPerSec,omitzero"`
	// AllocatedMB is the sum of the allocations before each collection, as far as it is
	// known: AllocatedMB of the [Runtime] has all of it. AllocatedByHistoriesMB leaves out
	// the first collection, whose allocations only the ticks tell.
	AllocatedMB            measure.Float `json:"allocatedMB,omitzero"`
	AllocatedByHistoriesMB float64       `json:"allocatedByHistoriesMB"`
	PromotedMB             float64       `json:"promotedMB"`
	// PromotedMBPerMS is the speed of collecting: MB promoted per ms of pause.
	PromotedMBPerMS measure.Float `json:"promotedMBPerMs,omitzero"`
	// AllocatedMBPerPauseMS is the MB that the program allocates for each millisecond of
	// pause of the same collections.
	AllocatedMBPerPauseMS measure.Float `json:"allocatedMBPerPauseMs,omitzero"`
}

// Finalizers sums up the runs of the finalizer thread.
type Finalizers struct {
	Runs  int     `json:"runs"`
	Count uint64  `json:"count"` // finalizers that were run
	MS    float64 `json:"ms"`    // time from begin to end of the runs
	MaxMS float64 `json:"maxMs"`
}

// A TypeCount is a number of objects of a type.
type TypeCount struct {
	Type  string `json:"type"` // its id in hexadecimal where the name is not known
	Count uint64 `json:"count"`
}

// An AllocationWait is a time that a thread waited to allocate a large object while
// a background collection was under way.
type AllocationWait struct {
	Thread     int64   `json:"tid"`
	StartMS    float64 `json:"startMs"`
	DurationMS float64 `json:"durationMs"`
	Reason     string  `json:"reason"`
	Unfinished bool    `json:"unfinished,omitempty"` // to the end of the trace
}
