package alloc

import (
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the allocations in a trace. Numbers of several kinds of events are never
// added: each kind is an estimate of the same on its own.
type Result struct {
	Schema int `json:"schema"`
	// Types has the types by allocation ticks of all runtimes together, the most
	// bytes first. Where there are no ticks but samples, it is of samples.
	Types    []Type     `json:"types"`
	Bytes    float64    `json:"bytes"` // of all Types
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64    `json:"pid"`
	CLRInstance uint16   `json:"clrInstance"`
	Life        int      `json:"life,omitempty"`
	Ticks       *Ticks   `json:"ticks,omitempty"`
	Samples     *Samples `json:"samples,omitempty"`
	Exact       *Exact   `json:"exact,omitempty"`
	// CutEvents say more than can be: with them a sum would be more than 2^62 bytes. Their
	// amounts are cut to that.
	CutEvents int `json:"cutEvents,omitempty"`
	// Damaged are events with amounts that cannot be, such as more bytes than an address space has.
	// They are in no sum.
	Damaged int `json:"damaged,omitempty"`
}

// Ticks are GCAllocationTick events: each stands for some 100 KB that were handed
// out on one heap, and names the object that passed that line.
type Ticks struct {
	Count  int            `json:"count"`
	Bytes  uint64         `json:"bytes"`
	Kinds  []Kind         `json:"kinds"`
	Types  []Type         `json:"types"`
	Stacks []StackWeight  `json:"stacks,omitempty"`
	Series measure.Series `json:"series"` // of bytes
	// CollectedMB is the bytes that collections found, if [Result.Compare] was told these and they
	// are more than a tenth off.
	CollectedMB measure.Float `json:"collectedMB,omitzero"`
	// Old says that the runtime is older than .NET 5: its ticks count some objects for more than
	// they are, and for less, so that sums and shares may be far off.
	Old bool `json:"old,omitempty"`
	// Clamped says that amounts of old runtimes were wrong and bounded.
	Clamped bool `json:"clamped,omitempty"`
}

// A Kind is one kind of heap: Small, Large or Pinned.
type Kind struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Bytes uint64 `json:"bytes"`
}

// A Type is the estimate for a type.
type Type struct {
	Type string `json:"type"`
	// Bytes were handed out up to an object of this type since the tick before.
	Bytes float64 `json:"bytes"`
	// Ticks is the number of events that Bytes is of.
	Ticks int `json:"ticks"`
	// SharePercent is Bytes of those of all types.
	SharePercent measure.Float `json:"sharePercent,omitzero"`
	// Objects is an estimate of their number. It is unknown where the size of the
	// objects is, before .NET 5.
	Objects measure.Float `json:"objects,omitzero"`
	// ErrorPercent is the relative standard error of Bytes, as far as allocations
	// are random. It is unknown of ticks before .NET 5.
	ErrorPercent measure.Float `json:"errorPercent,omitzero"`
}

// A StackWeight is the allocations of a type by one call stack.
type StackWeight struct {
	Type  string       `json:"type"`
	Bytes float64      `json:"bytes"`
	Ticks uint64       `json:"ticks"`
	Stack stacks.Stack `json:"stack"`
}

// Samples are AllocationSampled events of .NET 10 and later: every byte is drawn
// with the same probability, so that the sums are unbiased.
type Samples struct {
	Count int `json:"count"`
	// Bytes and Objects are estimates of all that was allocated.
	Bytes   float64        `json:"bytes"`
	Objects float64        `json:"objects"`
	Types   []Type         `json:"types"` // Ticks are samples here
	Stacks  []StackWeight  `json:"stacks,omitempty"`
	Series  measure.Series `json:"series"` // of bytes
}

// Exact is the sum of GCSampledObjectAllocation events, whose sums by type are exact from
// the first event of the type on.
type Exact struct {
	Events  int           `json:"events"`
	Bytes   uint64        `json:"bytes"`
	Objects uint64        `json:"objects"`
	Types   []Type        `json:"types"`
	Stacks  []StackWeight `json:"stacks,omitempty"` // of the sampled objects
}
