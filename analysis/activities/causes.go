package activities

import "github.com/etwgen/etwgen/analysis/stacks"

// Causes are where the time of an activity went: the parts of the path that its stop waited
// for, which add up to its time, or to the part of it in the window. Times are ticks of the trace.
type Causes struct {
	Path  []Part // from the stop to the start
	Spent [Kinds]int64
	// Worked is how long threads worked for it from start to stop, and did not wait, all together. The part of
	// it that is not on the path is Parallel.
	Worked, Parallel int64
}

// A Part is a time on the path of an activity.
type Part struct {
	Kind     Kind
	From, To int64
	Thread   int64  // that worked or waited, or 0
	Owner    int64  // of the lock, or 0
	Name     string // of what was awaited, if the trace has it
	// Code is the code that awaited or was blocked, or goes on after it; of running code,
	// the place where samples found it outside managed code, where it may wait. It is 0 if
	// that is not known.
	Code stacks.ID
	// Wait is the call stack of a thread that was blocked until something was over that was
	// awaited: then Code is where that was.
	Wait stacks.ID
}
