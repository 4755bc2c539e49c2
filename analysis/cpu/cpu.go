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
// that managed code called. Neither is time on a processor: threads of both run or wait. Some
// runtimes, that of .NET 9 among them, call nearly all samples external, even those in loops of
// the program: in profiles of their processes the state of both is untold.
//
// A sample stands for the time between the rounds in which the sampler looked at the threads of its
// process, half of the time to the round before and half of that to the next, however long these take.
// Rounds without a sample of a thread are times in which it ran no managed code. Pauses
// for collections, which the sampler waits for, are no time of the managed code that they
// stopped: where the trace tells of them (keyword GC of
// Microsoft-Windows-DotNETRuntime), they become samples with the label state=gc and
// the innermost frame [GC pause]. That is below the frames in which the thread was for sure: those of
// its own call for the collection (event GCTriggered, if it has a stack), or else those that it was in
// before and after the pause.
package cpu

import (
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the samples in the records that a [etw.Mux] dispatches.
type Analysis struct {
	window  *window.Window
	base    *stacks.Samples // has the stacks
	threads threads
	flags   map[int64]*Flags // of processes
	met     []int            // how many samples there are, by the numbers of threads
	taken   series[taken]
	last    int64 // the latest time of a sample
	late    bool  // there is one behind a later one
	weighed *weighed
	empty   int64
	errors  int64
	open    map[thread]begun     // suspensions for collections
	halted  map[thread]begun     // and others
	halts   int64                // how long these were, in the window
	pauses  map[int64][]span     // by process
	begun   map[int64]trigger    // of collections without a pause so far, by process
	own     map[thread][]trigger // of those with one
	locks   map[thread]stacks.ID // of threads that wait for one, or a handle: where they were met, 0 if not yet
	within  int64                // the time of all samples together, if it is known
}

// A begun is when a thread began a suspension, and how many events of it were lost before: of one whose
// end may be among the next that were, nothing is known.
type begun struct {
	at   int64
	lost uint32
}

// A taken is a sample as it was taken.
type taken struct {
	at    int64
	stack stacks.ID
	of    int32 // the number of its thread, and its state: see in
}

// in returns the rest of a sample of a thread in a state.
func (s state) in(thread int32) int32 { return thread<<stateBits | int32(s) }

func (t *taken) thread() int32 { return t.of >> stateBits }
func (t *taken) state() state  { return state(t.of & (1<<stateBits - 1)) }

// A state is the activity of a thread.
type state uint8

// The states, as samples have them, and that of pauses.
const (
	failed   state = 0
	external state = 1
	managed  state = 2
	inGC     state = 3
	skipped  state = 4
	locked   state = 5 // external, and the thread waits for a lock or a handle by what events say

	stateBits = 3
)

var stateNames = [...]string{"unknown", "external", "managed", "gc"}

// Needs are the samples of threads that EventPipe takes, for which it stops the program
// about every millisecond.
var Needs = []need.Need{{What: "thread samples", Provider: sampler.Name, Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{window: window.Of(mux), flags: make(map[int64]*Flags), open: make(map[thread]begun), halted: make(map[thread]begun), pauses: make(map[int64][]span), locks: make(map[thread]stacks.ID),
		begun: make(map[int64]trigger), own: make(map[thread][]trigger),
		base: stacks.NewSamples(ThreadTime, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "time", Unit: "nanoseconds"})}
	a.base.SetReading(Reading)
	hear.On(mux, func(r *etw.Record, e *sampled) { a.sample(r, e.state) })
	hear.On(mux, func(r *etw.Record, _ *clr.AnyContentionStart) { a.locks[thread{r.ProcessID, r.ThreadID}] = 0 })
	hear.On(mux, func(r *etw.Record, _ *clr.AnyContentionStop) { delete(a.locks, thread{r.ProcessID, r.ThreadID}) })
	hear.On(mux, func(r *etw.Record, _ *clr.AnyWaitHandleWaitStart) { a.locks[thread{r.ProcessID, r.ThreadID}] = 0 })
	hear.On(mux, func(r *etw.Record, _ *clr.AnyWaitHandleWaitStop) { delete(a.locks, thread{r.ProcessID, r.ThreadID}) })
	hear.On(mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) {
		of := a.halted
		if suspend.ForGC(e.Reason) {
			of = a.open
		}
		of[thread{r.ProcessID, r.ThreadID}] = begun{when.Of(r), r.Lost}
	})
	hear.On(mux, func(r *etw.Record, _ *clr.AnyGCRestartEEEnd) {
		t := thread{r.ProcessID, r.ThreadID}
		pause, collects := a.open[t]
		halt, halts := a.halted[t]
		delete(a.open, t)
		delete(a.halted, t)
		switch {
		case collects && pause.lost == r.Lost:
			a.pause(t.process, span{pause.at, when.Of(r)})
		case halts && halt.lost == r.Lost:
			from, to := a.window.Clip(halt.at, when.Of(r))
			a.halts += max(to-from, 0)
		}
	})
	hear.On(mux, func(r *etw.Record, _ *clr.AnyGCTriggered) { a.trigger(r) })
	return a
}

// OnSample has do called for each sample that EventPipe takes of a thread, which may be outside
// managed code.
func OnSample(mux *etw.Mux, do func(r *etw.Record, outside bool)) {
	hear.On(mux, func(r *etw.Record, e *sampled) { do(r, e.state == external) })
}

// ThreadTime is the kind of samples of EventPipe.
const ThreadTime = "thread time"

func (a *Analysis) sample(r *etw.Record, s state) {
	within := int64(0)
	if a.window.HasRecord(r) {
		within = 1
	}
	switch {
	case s != external && s != managed:
		a.errors += within
		return
	case r.Stack.Len() == 0:
		a.empty += within
		return
	}
	Note(a.flags, r.ProcessID, s == external)
	t, stack := thread{r.ProcessID, r.ThreadID}, a.base.Intern(r.ProcessID, r.Stack)
	if s == external && a.isLocked(t, stack) {
		s = locked
	}
	a.take(t, taken{at: when.Of(r), stack: stack}, s)
}

// isLocked reports whether a thread that was met in a stack waits for a lock. It does so in one
// place: elsewhere the wait is over, even if the event that says so was lost.
func (a *Analysis) isLocked(t thread, stack stacks.ID) bool {
	at, ok := a.locks[t]
	switch {
	case !ok:
		return false
	case at == 0:
		a.locks[t] = stack
	case at != stack:
		delete(a.locks, t)
		return false
	}
	return true
}

// take takes a sample of a thread in a state.
func (a *Analysis) take(t thread, x taken, s state) {
	n := a.threads.number(t)
	x.of = s.in(n)
	if int(n) == len(a.met) {
		a.met = append(a.met, 0)
	}
	a.met[n]++
	a.late = a.late || a.taken.n > 0 && x.at < a.last
	a.last = max(a.last, x.at)
	a.taken.add(x)
	a.weighed = nil
}

// Skip takes a record that is not wanted. If it is a sample, that of its thread before
// does not last longer, though it is in no number itself.
func (a *Analysis) Skip(r *etw.Record) {
	if d := (*sampled)(nil).EventDesc(); r.ID == d.ID && r.ProviderName == d.Provider.Name {
		var e sampled
		if _, err := e.DecodeVersion(r.Version, r.Payload, r.PointerSize); err == nil && (e.state == external || e.state == managed) {
			Note(a.flags, r.ProcessID, e.state == external)
		}
		a.take(thread{r.ProcessID, r.ThreadID}, taken{at: when.Of(r)}, skipped)
	}
}

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
	// the rest between the first and the last sample of threads, in rounds that did not meet them.
	TimeMS      float64  `json:"timeMs"`
	PauseMS     float64  `json:"pauseMs"`
	UnsampledMS float64  `json:"unsampledMs"`
	Threads     []Thread `json:"threads"`
}

// Halts returns for how many nanoseconds programs were stopped for other reasons than collections, such
// as by the sampler, and how long samples were taken. Methods have that time: nothing tells which
// threads ran until they were stopped.
func (a *Analysis) Halts() (ns, of int64) {
	if a.taken.n == 0 {
		return 0, 0
	}
	return a.halts, a.last - a.taken.at(0).at
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
	res := a.weigh().result
	res.Threads = slices.Clone(res.Threads)
	return &res
}

// Keep leaves the threads that has reports, and the sums over these. Samples without a stack
// and the median are of all.
func (r *Result) Keep(has func(pid, tid int64) bool) {
	r.Threads = order.Delete(r.Threads, func(t Thread) bool { return !has(t.Process, t.Thread) })
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
	out, weights, pauses := a.base.Derive(), a.weigh().weights, a.weigh().pauses
	a.weighed = nil // the samples have them now
	var labels [len(stateNames)]stacks.LabelSet
	for s, name := range stateNames {
		labels[s] = out.Label(0, "state", name)
	}
	out.SetOutside(labels[external])
	out.SetUntold(labels[managed], out.Label(0, "state", Untold), func(pid int64) bool { f := a.flags[pid]; return f != nil && f.All >= enoughFlags && f.Tell() })
	for i, x := range a.taken.all() {
		if x.state() == skipped || !a.window.Has(x.at) {
			continue
		}
		at, t := time.Unix(0, x.at), &a.threads.list[x.thread()]
		if x.state() == locked {
			out.AddPseudo(at, t.process, t.id, x.stack, stacks.WaitingName, labels[external], 1, weights[i].time)
			continue
		}
		out.AddStack(at, t.process, t.id, x.stack, labels[x.state()], 1, weights[i].time)
		for ; len(pauses) > 0 && pauses[0].sample == i; pauses = pauses[1:] {
			out.AddShared(at, t.process, t.id, pauses[0].before, pauses[0].after, gcPause, labels[inGC], 0, pauses[0].time)
		}
	}
	return []*stacks.Samples{out}
}

// Untold is the state of samples of which the runtime does not tell managed from external.
const Untold = "untold"

// MayRun reports whether a sample of thread time in a profile is of a thread that may have run: that is
// not seen to wait, be it in managed code or in code that this called, which not every runtime tells.
func MayRun(p *stacks.Profile, s stacks.Sample) bool {
	for _, l := range s.Labels {
		if l.Key == "state" {
			ran := l.Value == stateNames[managed] || l.Value == stateNames[external] || l.Value == Untold
			return ran && !p.IsWaiting(s.Stack)
		}
	}
	return true
}

// gcPause is the innermost frame of the time of a sample that was a pause.
const gcPause = "[GC pause]"

// Interval returns the median time between two samples of a thread in nanoseconds.
func (r *Result) Interval() int64 { return int64(r.IntervalMS * 1e6) }
