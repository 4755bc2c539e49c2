package exceptions

import (
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the exceptions in a trace.
type Result struct {
	Schema int `json:"schema"`
	Tally
	Types    []Type     `json:"types"` // of all runtimes, those first that were thrown most often
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`
	Tally
	Types    []Type         `json:"types"`
	Messages []Message      `json:"messages"`
	Threads  []Thread       `json:"threads,omitempty"` // that threw, the most often first
	Stacks   []Stack        `json:"stacks,omitempty"`
	Series   measure.Series `json:"series"`
	// Thrown lists the first thousand in the order in which they were thrown.
	Thrown []Thrown `json:"thrown"`
	// HandlingMS is the time from a throw to where its handling ends, of those of
	// which both are there.
	HandlingMS measure.Summary `json:"handlingMs"`
	// Handlers are the methods with catch, finally and filter blocks that ran.
	Handlers []Handler `json:"handlers,omitempty"`
	// Catches, Finallys and Filters count such blocks that ran. They are unknown if none
	// did: the events of blocks are of a higher level than those of exceptions.
	Catches  measure.Float `json:"catches,omitzero"`
	Finallys measure.Float `json:"finallys,omitzero"`
	Filters  measure.Float `json:"filters,omitzero"`
	// CaughtAgain is how many more were caught than there are events, and so the least number of
	// those that a throw without an operand threw again, of which .NET 9 and later write none: one
	// that the runtime itself catches, as that of a static constructor, has an event, but no block.
	CaughtAgain int `json:"caughtAgain,omitempty"`
	// Uncaught are those that no block had caught when the trace ended, if it has events of blocks.
	// One that nobody catches ends the process.
	Uncaught []Thrown `json:"uncaught,omitempty"`
}

// A Type is the exceptions of one type.
type Type struct {
	Tally
	Type string `json:"type"`
}

// A Message is the exceptions of one type with one message.
type Message struct {
	Tally
	Type    string `json:"type"`
	Message string `json:"message"`
}

// A Thread is the exceptions that a thread threw.
type Thread struct {
	Thread int64 `json:"tid"`
	Count  int   `json:"count"`
}

// A Stack is where exceptions of a type were thrown.
type Stack struct {
	Type  string       `json:"type"`
	Count uint64       `json:"count"`
	Stack stacks.Stack `json:"stack"`
}

// A Thrown is one exception.
type Thrown struct {
	AtMS    float64 `json:"atMs"`
	Thread  int64   `json:"tid"`
	Type    string  `json:"type"`
	Message string  `json:"message"`
	HResult int32   `json:"hresult"`
	Flags   string  `json:"flags,omitempty"`
	// How is "new", "passed on" or "rethrown", as in Tally; empty if the trace does not tell.
	How string `json:"how,omitempty"`
}

// A Handler is the blocks of one kind in one method.
type Handler struct {
	Kind   string  `json:"kind"` // catch, finally or filter
	Method string  `json:"method"`
	Count  int     `json:"count"`
	MS     float64 `json:"ms"` // from begin to end, of those with an end
}
