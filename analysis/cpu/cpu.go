// Package cpu answers where the threads of a program spend their time, by call stack. Use
// it when processors are busy, of .NET as well as of whole machines with Windows or
// Linux.
//
// # Thread time
//
// EventPipe's sampler (Microsoft-DotNETCore-SampleProfiler, with the rundown for names)
// stops the program about every millisecond and looks at all threads that run managed code,
// or have called out of it. It gives thread time, not time of a processor: a thread that
// waits for a lock in native code is sampled just as one that computes there. The label
// state tells where the sampler met it: managed, in managed code; and external, in native code
// that managed code called. Neither is time on a processor: threads of both run or wait.
//
// A sample stands for the time to the next sample of its thread, but for no more
// than five times the median of these: longer gaps are times in which the thread was
// not looked at, because it ran no managed code, or the sampler did not run. Pauses
// for collections, which the sampler waits for, are no time of the managed code that they
// stopped: where the trace tells of them (keyword GC of
// Microsoft-Windows-DotNETRuntime), they become samples with the label state=gc and
// the innermost frame [GC pause].
package cpu

import (
	"cmp"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the samples in the records that a [etw.Mux] dispatches.
type Analysis struct {
	base   *stacks.Samples // has the stacks
	taken  []taken
	empty  int64
	errors int64
	open   map[thread]int64 // begins of suspensions for collections
	pauses map[int64][]span // by process
	within int64            // the time of all samples together, if it is known
}

type thread struct{ process, id int64 }

// A taken is a sample as it was taken.
type taken struct {
	thread
	at    int64
	stack stacks.ID
	state state
}

type span struct{ from, to int64 }

// A state is the activity of a thread.
type state uint8

// The states, as samples have them, and that of pauses.
const (
	failed   state = 0
	external state = 1
	managed  state = 2
	inGC     state = 3
	skipped  state = 4
)

var stateNames = [...]string{"unknown", "external", "managed", "gc"}

// Needs are the samples of threads that EventPipe takes, for which it stops the program
// about every millisecond.
var Needs = []need.Need{{What: "thread samples", Provider: sampler.Name, Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{open: make(map[thread]int64), pauses: make(map[int64][]span),
		base: stacks.NewSamples(ThreadTime, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "time", Unit: "nanoseconds"})}
	a.base.SetReading(Reading)
	hear.On(mux, func(r *etw.Record, e *sampled) { a.sample(r, e.state) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) {
		if suspend.ForGC(e.Reason) {
			a.open[thread{r.ProcessID, r.ThreadID}] = when.Of(r)
		}
	})
	hear.On(mux, func(r *etw.Record, _ *clr.AnyGCRestartEEEnd) {
		t := thread{r.ProcessID, r.ThreadID}
		if from, ok := a.open[t]; ok {
			delete(a.open, t)
			a.pauses[t.process] = append(a.pauses[t.process], span{from, when.Of(r)})
		}
	})
	return a
}

// ThreadTime is the kind of samples of EventPipe.
const ThreadTime = "thread time"

func (a *Analysis) sample(r *etw.Record, s state) {
	switch {
	case s != external && s != managed:
		a.errors++
		return
	case r.Stack.Len() == 0:
		a.empty++
		return
	}
	a.taken = append(a.taken, taken{thread{r.ProcessID, r.ThreadID}, when.Of(r), a.base.Intern(r.ProcessID, r.Stack), s})
}

// Skip takes a record that is not wanted. If it is a sample, that of its thread before
// does not last longer, though it is in no number itself.
func (a *Analysis) Skip(r *etw.Record) {
	if d := (*sampled)(nil).EventDesc(); r.ID == d.ID && r.ProviderName == d.Provider.Name {
		a.taken = append(a.taken, taken{thread: thread{r.ProcessID, r.ThreadID}, at: when.Of(r), state: skipped})
	}
}

// capMedians is how many medians of the time between two samples a sample can stand
// for.
const capMedians = 5

// A Result says how far the samples can be trusted.
type Result struct {
	Schema int `json:"schema"`
	// Samples counts those with a stack; Managed and External part it by the state of the
	// thread.
	Samples  int   `json:"samples"`
	Managed  int   `json:"managed"`
	External int   `json:"external"`
	Empty    int64 `json:"empty,omitempty"`  // samples without a stack
	Failed   int64 `json:"failed,omitempty"` // samples that say that they failed
	// IntervalMS is the median time between two samples of a thread, as measured.
	IntervalMS float64 `json:"intervalMs"`
	// TimeMS is the time that the samples stand for: the time of all threads together.
	// PauseMS, which is no part of it, are collections between samples, and UnsampledMS is
	// the rest between the first and the last sample of threads.
	TimeMS      float64  `json:"timeMs"`
	PauseMS     float64  `json:"pauseMs"`
	UnsampledMS float64  `json:"unsampledMs"`
	Threads     []Thread `json:"threads"`
}

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Thread holds the samples of one thread.
type Thread struct {
	Process     int64   `json:"pid"`
	Thread      int64   `json:"tid"`
	Samples     int     `json:"samples"`
	Managed     int     `json:"managed"`
	IntervalMS  float64 `json:"intervalMs"`
	TimeMS      float64 `json:"timeMs"`
	ManagedMS   float64 `json:"managedMs"` // of TimeMS, in managed code
	PauseMS     float64 `json:"pauseMs"`
	UnsampledMS float64 `json:"unsampledMs"`
}

// Result returns the findings so far, the threads with the most samples first.
func (a *Analysis) Result() *Result {
	_, res := a.weigh()
	return res
}

// Keep leaves the threads that has reports, and the sums over these. Samples without a stack
// and the median are of all.
func (r *Result) Keep(has func(pid, tid int64) bool) {
	r.Threads = slices.DeleteFunc(r.Threads, func(t Thread) bool { return !has(t.Process, t.Thread) })
	r.Samples, r.Managed = 0, 0
	for i := range r.Threads {
		r.Samples += r.Threads[i].Samples
		r.Managed += r.Threads[i].Managed
	}
	r.add()
}

// add makes the sums of times.
func (r *Result) add() {
	r.External = r.Samples - r.Managed
	r.TimeMS, r.PauseMS, r.UnsampledMS = 0, 0, 0
	for i := range r.Threads {
		t := &r.Threads[i]
		r.TimeMS += t.TimeMS
		r.PauseMS += t.PauseMS
		r.UnsampledMS += t.UnsampledMS
	}
}

// Samples returns the samples with the time they stand for.
func (a *Analysis) Samples() []*stacks.Samples {
	s, _ := a.weigh()
	return []*stacks.Samples{s}
}

// Interval returns the median time between two samples of a thread in nanoseconds.
func (r *Result) Interval() int64 { return int64(r.IntervalMS * 1e6) }

func (a *Analysis) weigh() (*stacks.Samples, *Result) {
	out := a.base.Derive()
	var labels [len(stateNames)]stacks.LabelSet
	for s, name := range stateNames {
		labels[s] = out.Label(0, "state", name)
	}
	res := &Result{Schema: Schema, Empty: a.empty, Failed: a.errors, Threads: []Thread{}}
	byThread := make(map[thread][]int32)
	for i := range a.taken {
		byThread[a.taken[i].thread] = append(byThread[a.taken[i].thread], int32(i))
	}
	weights := make([]weight, len(a.taken))
	var gaps []int64
	for t, list := range byThread {
		order.Stable(list, func(x, y int32) int { return cmp.Compare(a.taken[x].at, a.taken[y].at) })
		row := a.weighThread(t, list, weights, &gaps)
		if row.Samples == 0 {
			continue
		}
		res.Threads = append(res.Threads, row)
		res.Samples += row.Samples
		res.Managed += row.Managed
	}
	res.IntervalMS = float64(median(gaps)) / 1e6
	if a.within > 0 {
		a.weighRounds(weights)
		a.sumUp(res, weights)
	}
	order.Sort(res.Threads, func(x, y Thread) int {
		return cmp.Or(cmp.Compare(y.Samples, x.Samples), cmp.Compare(x.Process, y.Process), cmp.Compare(x.Thread, y.Thread))
	})
	res.add()
	for i := range a.taken {
		t := &a.taken[i]
		w := weights[i]
		if t.state == skipped {
			continue
		}
		out.AddStack(time.Unix(0, t.at), t.process, t.id, t.stack, labels[t.state], 1, w.time)
		if t.state == external {
			out.OutsideManaged()
		}
		if w.pause > 0 {
			out.AddPseudo(time.Unix(0, t.at), t.process, t.id, t.stack, gcPause, labels[inGC], 0, w.pause)
		}
	}
	return out, res
}

// gcPause is the innermost frame of the time of a sample that was a pause.
const gcPause = "[GC pause]"

// A weight parts the time from one sample to the next.
type weight struct{ time, pause int64 }

// in returns the weight of a sample of a state: no collection stops native code, or a thread
// that waits.
func (w weight) in(s state) weight {
	if s == external {
		return weight{time: w.time + w.pause}
	}
	return w
}

// weighThread weighs the samples of one thread. The last one stands for nothing.
func (a *Analysis) weighThread(t thread, list []int32, weights []weight, gaps *[]int64) Thread {
	row := Thread{Process: t.process, Thread: t.id}
	pauses := merged(a.pauses[t.process])
	own := make([]int64, 0, len(list)) // gaps without pauses
	for i := range list {
		x := &a.taken[list[i]]
		if x.state != skipped {
			row.Samples++
		}
		if x.state == managed {
			row.Managed++
		}
		if i+1 == len(list) {
			break
		}
		next := a.taken[list[i+1]].at
		gap := next - x.at
		var pause int64
		pause, pauses = overlap(pauses, x.at, next)
		weights[list[i]] = weight{gap - pause, pause}
		own = append(own, gap-pause)
	}
	*gaps = append(*gaps, own...)
	interval := median(own)
	row.IntervalMS = float64(interval) / 1e6
	var time, inManaged, pause, rest int64
	for _, x := range list {
		w := &weights[x]
		if a.taken[x].state == skipped {
			*w = weight{}
			continue
		}
		if most := capMedians * interval; w.time > most {
			rest += w.time - most
			w.time = most
		}
		*w = w.in(a.taken[x].state)
		time += w.time
		if a.taken[x].state == managed {
			inManaged += w.time
		}
		pause += w.pause
	}
	row.TimeMS, row.ManagedMS = float64(time)/1e6, float64(inManaged)/1e6
	row.PauseMS, row.UnsampledMS = float64(pause)/1e6, float64(rest)/1e6
	return row
}

// median returns the median of values, which it sorts.
func median(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// merged returns spans in their order, such that none overlap.
func merged(spans []span) []span {
	list := slices.Clone(spans)
	order.Sort(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// overlap returns how much of the time from one moment to another is in spans, and
// the spans that may concern later times.
func overlap(spans []span, from, to int64) (int64, []span) {
	for len(spans) > 0 && spans[0].to <= from {
		spans = spans[1:]
	}
	sum := int64(0)
	for _, s := range spans {
		if s.from >= to {
			break
		}
		sum += min(s.to, to) - max(s.from, from)
	}
	return sum, spans
}
