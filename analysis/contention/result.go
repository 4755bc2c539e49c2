package contention

import (
	"time"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the lock contention in a trace.
type Result struct {
	Schema   int        `json:"schema"`
	Count    int        `json:"count"`
	TotalMS  float64    `json:"totalMs"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`
	// Count is the number of times that a thread had to wait for a lock and got it.
	Count int `json:"count"`
	// TotalMS is how long: as the runtime measured it, or where it did not the time
	// between the events. TotalByEventsMS is always the latter.
	TotalMS         float64         `json:"totalMs"`
	TotalByEventsMS float64         `json:"totalByEventsMs"`
	DurationMS      measure.Summary `json:"durationMs"`
	// Native is how many of Count are for locks inside of the runtime.
	Native int `json:"native"`
	// Reentries are how many of Count are threads that a pulse woke in Monitor.Wait, and that
	// had to wait for their lock again: the runtime counts them as contention, too. Untold may
	// be such.
	Reentries int `json:"reentries"`
	Untold    int `json:"untold,omitempty"`
	// Open waits are not over at the end, OpenMS how long they had lasted. StopsWithoutStart
	// are in Count, by the runtime's measure or from the begin of the trace; LostStops
	// began, and never ended.
	Open              int     `json:"open,omitempty"`
	OpenMS            float64 `json:"openMs,omitempty"`
	StopsWithoutStart int     `json:"stopsWithoutStart,omitempty"`
	LostStops         int     `json:"lostStops,omitempty"`

	Locks   []Lock   `json:"locks"`
	Owners  []Thread `json:"owners"`  // that held the lock when the wait began
	Threads []Thread `json:"threads"` // that waited
	// WithoutOwner are the waits of which no event says who held the lock: all of those
	// before .NET 8, later those that began before the trace or at a moment at which the
	// runtime did not know it.
	WithoutOwner *Waits  `json:"withoutOwner,omitempty"`
	Stacks       []Stack `json:"stacks,omitempty"`
	// Longest has the hundred longest waits, and Unended those that were not over at the end.
	Longest []Wait `json:"longest"`
	Unended []Wait `json:"unended,omitempty"`
	// Deadlocks are threads each of which waited to the end for the next one, and the last for
	// the first, by those that held the locks when the waits began.
	Deadlocks []Deadlock     `json:"deadlocks,omitempty"`
	Series    measure.Series `json:"series"` // of ms, by the end of the wait
}

// A Deadlock is threads that wait for each other.
type Deadlock struct {
	SinceMS float64 `json:"sinceMs"` // the last of them waits
	ForMS   float64 `json:"forMs"`   // to the end
	Threads []int64 `json:"tids"`
}

// A Lock is one lock. Before .NET 8 locks had no ids.
type Lock struct {
	Lock    string  `json:"lock,omitempty"`
	Object  string  `json:"object,omitempty"` // the address of the object, when it was last told: collections move it
	Count   int     `json:"count"`
	TotalMS float64 `json:"totalMs"`
	MaxMS   float64 `json:"maxMs"`
}

// A Thread is a thread that waited, or that others waited for.
type Thread struct {
	Thread  int64   `json:"tid"`
	Count   int     `json:"count"`
	TotalMS float64 `json:"totalMs"`
	MaxMS   float64 `json:"maxMs"`
}

// Waits are waits that have something in common.
type Waits struct {
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

// A Wait is one wait for a lock.
type Wait struct {
	StartMS    float64 `json:"startMs"`
	DurationMS float64 `json:"durationMs"`
	Thread     int64   `json:"tid"`
	Owner      int64   `json:"owner,omitempty"`
	Lock       string  `json:"lock,omitempty"`
	Object     string  `json:"object,omitempty"`
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
