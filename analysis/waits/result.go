package waits

import (
	"time"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the waits in a trace.
type Result struct {
	Schema   int        `json:"schema"`
	Count    int        `json:"count"`
	TotalMS  float64    `json:"totalMs"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64           `json:"pid"`
	CLRInstance uint16          `json:"clrInstance"`
	Life        int             `json:"life,omitempty"`
	Count       int             `json:"count"`
	TotalMS     float64         `json:"totalMs"`
	DurationMS  measure.Summary `json:"durationMs"`
	// Open waits are not over at the end, OpenMS how long they had lasted.
	Open              int     `json:"open,omitempty"`
	OpenMS            float64 `json:"openMs,omitempty"`
	StopsWithoutStart int     `json:"stopsWithoutStart,omitempty"`
	LostStops         int     `json:"lostStops,omitempty"`

	Sources []Source `json:"sources"`
	// PoolMS and OtherMS part TotalMS: threads of the thread pool, which mostly wait
	// for work, and others. The events of the thread pool tell them apart.
	PoolMS float64 `json:"poolMs"`
	// PoolUntold says that the trace has no event of a worker of the thread pool: all are in OtherMS.
	PoolUntold bool    `json:"poolUntold,omitempty"`
	OtherMS    float64 `json:"otherMs"`
	// Threads are those that waited, the longest first.
	Threads []Thread `json:"threads"`
	Stacks  []Stack  `json:"stacks,omitempty"`
	// InLocks are waits that are how a thread waited for a lock: they are in no sum here, as
	// package contention has them.
	InLocks int `json:"inLocks,omitempty"`
	// Longest has the hundred longest waits, and Unended those that were not over at the end.
	Longest []Wait         `json:"longest"`
	Unended []Wait         `json:"unended,omitempty"`
	Series  measure.Series `json:"series"` // of ms, by the end of the wait
}

// A Source is the method that makes waits, such as Monitor.Wait.
type Source struct {
	Source  string  `json:"source"`
	Count   int     `json:"count"`
	TotalMS float64 `json:"totalMs"`
}

// A Thread is a thread that waited.
type Thread struct {
	Thread  int64   `json:"tid"`
	Pool    bool    `json:"pool,omitempty"` // a worker of the thread pool
	Count   int     `json:"count"`
	TotalMS float64 `json:"totalMs"`
	MaxMS   float64 `json:"maxMs"`
}

// A Stack is where threads waited.
type Stack struct {
	Count   uint64       `json:"count"`
	TotalMS float64      `json:"totalMs"`
	Stack   stacks.Stack `json:"stack"`
}

// A Wait is one wait.
type Wait struct {
	StartMS    float64 `json:"startMs"`
	DurationMS float64 `json:"durationMs"`
	Thread     int64   `json:"tid"`
	Source     string  `json:"source"`
	Open       bool    `json:"open,omitempty"` // it was not over at the end
	// Method waited: of [Result.Name], or "".
	Method string    `json:"method,omitempty"`
	at     time.Time // when it began, as samples have it
}

// Name gives the waits that are listed one by one the methods that waited, from the samples of
// the analysis: of has the process, the thread and the time of such a sample.
func (r *Result) Name(of func(pid, tid int64, at time.Time) string) {
	for _, rt := range r.Runtimes {
		for _, list := range [][]Wait{rt.Longest, rt.Unended} {
			for i := range list {
				w := &list[i]
				w.Method = of(rt.PID, w.Thread, w.at)
			}
		}
	}
}
