package jit

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/measure"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the compilations in a trace.
type Result struct {
	Schema int `json:"schema"`
	// Count, InclusiveMS and ExclusiveMS are the sums of all runtimes.
	Count       int     `json:"count"`
	InclusiveMS float64 `json:"inclusiveMs"`
	ExclusiveMS float64 `json:"exclusiveMs"`
	// Methods has the compilations of all runtimes, the longest first.
	Methods  []Method   `json:"methods"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`

	// Count is the number of compilations with begin and end. InclusiveMS is the sum
	// of their times; since compiling one method can need another one, it counts
	// some time twice. ExclusiveMS does not: it is the time in which any thread
	// compiles, for each thread.
	Count       int     `json:"count"`
	InclusiveMS float64 `json:"inclusiveMs"`
	ExclusiveMS float64 `json:"exclusiveMs"`
	// SuspendedMS is the part of ExclusiveMS in which the runtime had suspended all
	// threads, for a collection or a profiler: then nothing was compiled.
	SuspendedMS float64 `json:"suspendedMs"`
	Nested      int     `json:"nested"` // compilations within another one
	ILBytes     uint64  `json:"ilBytes"`
	NativeBytes uint64  `json:"nativeBytes"`
	// Open compilations had no end at the end; LostStops never will.
	Open      int `json:"open,omitempty"`
	LostStops int `json:"lostStops,omitempty"`
	// WithoutStart are methods with compiled code whose begin was not seen: stubs,
	// or those that were under way when the trace began.
	WithoutStart int `json:"withoutStart,omitempty"`

	Memory      *Memory        `json:"memory,omitempty"`
	Triggers    []Group        `json:"triggers"` // foreground, tiering, multicore
	Tiers       []Group        `json:"tiers"`
	Modules     []Group        `json:"modules"`
	Series      measure.Series `json:"series"`  // of exclusive ms, by the end
	Methods     []Method       `json:"methods"` // the longest first
	Precompiled *Precompiled   `json:"precompiled,omitempty"`
	Inlining    *Inlining      `json:"inlining,omitempty"`
	TailCalls   *Inlining      `json:"tailCalls,omitempty"`
	Tiering     *Tiering       `json:"tiering,omitempty"`
}

// A Method is one compilation of a method.
type Method struct {
	Method  string  `json:"method"` // with its namespace and parameters
	Module  string  `json:"module,omitempty"`
	PID     int64   `json:"pid"`
	StartMS float64 `json:"startMs"`
	// InclusiveMS is the time from begin to end by the clock, not by the processor;
	// ExclusiveMS the same without compilations meanwhile on the same thread. Both are
	// unknown without a begin.
	InclusiveMS measure.Float `json:"inclusiveMs,omitzero"`
	ExclusiveMS measure.Float `json:"exclusiveMs,omitzero"`
	Thread      int64         `json:"tid"`
	ILBytes     uint32        `json:"ilBytes"`
	NativeBytes uint32        `json:"nativeBytes"`
	Tier        string        `json:"tier"`
	Trigger     string        `json:"trigger"`
	Version     uint64        `json:"version,omitempty"` // above 0 of a later compilation of the method
	Flags       string        `json:"flags,omitempty"`
	// AllocatedBytes is the memory that the compiler asked for in this compilation.
	AllocatedBytes uint64 `json:"allocatedBytes,omitempty"`
	WithoutStart   bool   `json:"withoutStart,omitempty"`
}

// A Group is the compilations that have something in common.
type Group struct {
	Name        string  `json:"name"`
	Count       int     `json:"count"`
	InclusiveMS float64 `json:"inclusiveMs"`
	ExclusiveMS float64 `json:"exclusiveMs"`
	ILBytes     uint64  `json:"ilBytes"`
	NativeBytes uint64  `json:"nativeBytes"`
}

// Memory is the compiler's own requests, in bytes.
type Memory struct {
	HotCode   uint64 `json:"hotCodeBytes"`
	ReadOnly  uint64 `json:"readOnlyBytes"`
	Allocated uint64 `json:"allocatedBytes"`
}

// Precompiled is about the code in ReadyToRun images.
type Precompiled struct {
	*Lookups // nil where none was recorded
	// Rejected methods had code that could not be used; unknown where no load of a method was
	// recorded.
	Rejected measure.Float `json:"rejected,omitzero"`
}

// Lookups counts those of code in ReadyToRun images.
type Lookups struct {
	Found   int     `json:"found"`
	Missing int     `json:"missing"` // of these, the methods are compiled
	MS      float64 `json:"ms"`      // of the look-ups
	// MissingMethods lists the first thousand that were looked for without success.
	MissingMethods []string `json:"missingMethods,omitempty"`
}

// Inlining counts the compiler's decisions about calls: to inline them, or to make them tail
// calls.
type Inlining struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// Never counts those failures after which the callee is not tried again.
	Never   int      `json:"never"`
	Reasons []Reason `json:"reasons"` // of failures, the most frequent first
	// Callees lists the hundred methods that failed most often.
	Callees []Reason `json:"callees"`
}

// A Reason is why calls stayed calls, and how often.
type Reason struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Tiering is the compiling in the background.
type Tiering struct {
	Settings     string  `json:"settings,omitempty"`
	Pauses       int     `json:"pauses"` // because methods were still called for the first time
	Resumes      int     `json:"resumes"`
	Batches      int     `json:"batches"`
	Methods      uint64  `json:"methods"`
	BusyMS       float64 `json:"busyMs"`
	PendingAtEnd uint32  `json:"pendingAtEnd"`
}

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, rt := range r.Runtimes {
		where := fmt.Sprintf("process %d: ", rt.PID)
		if m := rt.Memory; m != nil && max(m.HotCode, m.ReadOnly, m.Allocated) == measure.Most {
			list = append(list, where+"the memory that the compiler asked for adds up to 2^63 bytes and more, which no memory has: sums end there")
		}
		if rt.LostStops > 0 {
			list = append(list, fmt.Sprintf("%scompilations whose end was lost, and that are in no sum: %d", where, rt.LostStops))
		}
		if rt.Open > 0 {
			list = append(list, fmt.Sprintf("%scompilations that were under way at the end, and are in no sum: %d", where, rt.Open))
		}
		if rt.WithoutStart > 0 {
			list = append(list, fmt.Sprintf("%smethods whose begin was not seen, since they are stubs, or were under way when the trace began, or Jit was not recorded at level 5: %d", where, rt.WithoutStart))
		}
	}
	return list
}
