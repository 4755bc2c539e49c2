package threads

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/order"
)

// A Result holds the time of threads, as far as the trace tells.
type Result struct {
	Schema   int `json:"schema"`
	Switches int `json:"switches"`
	// Readies are the events that tell who ended a wait. Without any, being ready is
	// part of waiting.
	Readies int `json:"readies"`
	// Gaps counts switches from another thread than the one that was switched to
	// before, and rests of a thread that begin in another one: events are missing.
	Gaps int `json:"gaps"`
	// Strays are switches of threads that the recorder did not know; they are in no
	// other figure.
	Strays int `json:"strays,omitempty"`
	// Folded are times off processors that are not kept one by one, the longest of FoldedMS: there
	// is no room for so many. Sums are right all the same.
	Folded   int     `json:"folded,omitempty"`
	FoldedMS float64 `json:"foldedMs,omitempty"`
	// Samples are those of threads of Linux, in intervals of sampling: for so long they
	// ran. Where it is much less than RunningMS, the recorder did not tell all rests.
	Samples int64 `json:"samples,omitempty"`
	// Sums over all threads but those that are idle.
	Times
	Threads    []Thread    `json:"threads"`
	Processors []Processor `json:"processors"`
}

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// Times part the life of a thread, or of several.
type Times struct {
	RunningMS float64 `json:"runningMs"`
	ReadyMS   float64 `json:"readyMs"`
	WaitingMS float64 `json:"waitingMs"`
	// UnknownMS is between events that contradict each other.
	UnknownMS float64 `json:"unknownMs"`
}

// A Thread is the time of one thread, from the first event about it to its end, or to the
// last event of any.
type Thread struct {
	PID    int64   `json:"pid"`
	TID    int64   `json:"tid"`
	Name   string  `json:"name,omitempty"`
	LifeMS float64 `json:"lifeMs"`
	Times
	// OpenMS is the part of WaitingMS that lasts to the end: nobody knows its cause.
	OpenMS    float64 `json:"openMs"`
	Switches  int     `json:"switches"` // to the thread
	Waits     int     `json:"waits"`
	Preempted int     `json:"preempted"` // how often it went though it could have run on
	LongestMS float64 `json:"longestMs"` // wait
	Samples   int64   `json:"samples,omitempty"`
}

// A Processor is the time of one processor from its first switch to its last.
type Processor struct {
	Number    int     `json:"number"`
	SpanMS    float64 `json:"spanMs"`
	BusyMS    float64 `json:"busyMs"`
	IdleMS    float64 `json:"idleMs"`
	UnknownMS float64 `json:"unknownMs"`
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

// Result returns the findings so far, the threads that ran longest first.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Switches: a.switches, Readies: a.readies, Gaps: a.gaps, Strays: a.strays, Folded: a.folded, FoldedMS: ms(a.longestFolded), Threads: []Thread{}, Processors: []Processor{}}
	var sums [doings]int64
	a.settle()
	for _, x := range a.order {
		if x.TID == 0 || !x.seen {
			continue
		}
		t, own := a.result(x)
		res.Threads = append(res.Threads, t)
		res.Samples += t.Samples
		for i := range sums {
			sums[i] += own[i]
		}
	}
	res.Times = timesOf(sums)
	order.Stable(res.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.RunningMS, a.RunningMS), cmp.Compare(b.WaitingMS, a.WaitingMS), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID))
	})
	for i := range a.processors {
		if p := &a.processors[i]; p.begun {
			span := p.since - p.first
			res.Processors = append(res.Processors, Processor{i, ms(span), ms(p.busy), ms(p.idle), ms(span - p.busy - p.idle)})
		}
	}
	return res
}

// Keep leaves the threads that has reports, and the sums over these. Gaps, strays and
// processors are of all.
func (r *Result) Keep(has func(pid, tid int64) bool) {
	r.Threads = slices.DeleteFunc(r.Threads, func(t Thread) bool { return !has(t.PID, t.TID) })
	r.Switches, r.Samples, r.Times = 0, 0, Times{}
	for i := range r.Threads {
		t := &r.Threads[i]
		r.Switches += t.Switches
		r.Samples += t.Samples
		r.RunningMS += t.RunningMS
		r.ReadyMS += t.ReadyMS
		r.WaitingMS += t.WaitingMS
		r.UnknownMS += t.UnknownMS
	}
}

func timesOf(sums [doings]int64) Times {
	return Times{ms(sums[running]), ms(sums[ready]), ms(sums[waiting]), ms(sums[unknown])}
}

// result returns the time of a thread until now, with its present state.
func (a *Analysis) result(x *thread) (Thread, [doings]int64) {
	sums, end, open := x.sums, a.now, int64(0)
	switch {
	case x.over:
		end = x.since
	case x.does == waiting && x.byOther:
		sums[waiting] += x.readied - x.since
		sums[ready] += end - x.readied
	case x.does == waiting:
		open = end - x.since
		sums[waiting] += open
	case x.does == running && a.blurred:
		end = a.runsUntil(x)
		sums[running] += end - x.since
	case a.gaps > 0:
		sums[unknown] += end - x.since // the switch to another may be missing
	default:
		sums[x.does] += end - x.since
	}
	return Thread{PID: pidOf(x.Thread), TID: x.TID, Name: x.Name, LifeMS: ms(end - x.first), Times: timesOf(sums), OpenMS: ms(open),
		Switches: x.switches, Waits: x.waits, Preempted: x.forced, LongestMS: ms(x.longest), Samples: x.samples}, sums
}

// runsUntil returns until when a thread is known to run that does.
func (a *Analysis) runsUntil(x *thread) int64 {
	switch {
	case a.blurred: // recorders tell of a rest when it is over
		return max(x.since, x.sampled)
	case a.gaps > 0:
		return x.since
	}
	return a.now
}

// pidOf returns the process of a thread, or -1.
func pidOf(t *system.Thread) int64 {
	if t.Process == nil {
		return -1
	}
	return t.Process.PID
}
