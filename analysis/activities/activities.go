// Package activities answers for whom a thread of a .NET program works at any moment, and
// so where the time of a request went: code that ran for it, locks and waits, collections,
// compiling, the queue of the thread pool, and awaiting. It follows a request over awaits,
// tasks, timers and threads of its own. Use it to ask for whom a thread works at an event;
// package requests has the sums, with names.
//
// # Layers
//
// The runtime itself says, whenever a thread begins to work for another activity, for which
// one: event 25 of System.Threading.Tasks.TplEventSource under the keyword 0x40000, with the
// keyword 0x80 that gives activities their ids. That is [Flow], and it is exact. Without
// that keyword the events of tasks tell most of it: [Tasks]. Waits for other things than
// tasks are lost then, but nothing is given to the wrong one. A trace with ids alone does
// not tell.
//
// # Parts
//
// The time of an activity from its start to its stop is that of the path that its end waited
// for, backwards from the stop: the code that ran last, the item of the queue or the wait
// that let this run, the code that queued it, and so on to the start. The parts of the path
// adjoin, so they add up to the time exactly. Work of other threads for the activity
// meanwhile is parallel work, and work after its stop is late work; both are beside it.
//
// A thread that runs code here need not have a processor, unless the trace has the switches of
// threads, too, of Windows or of Linux, from the same file or from another one: then it waits
// or is ready in the times of these. Where it may sleep, though no event says so, samples tell: [Analysis.KeepCode] has parts of such time, whose call stacks say,
// once they have names, whether it did.
package activities

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the activities in the records that a [etw.Mux] dispatches.
type Analysis struct {
	processes lives.Table[process]
	window    *window.Window
	spans     func(pid int64, s Span)
	stopped   *Activity          // by the last stop
	stacks    *stacks.Samples    // of what parts were, or nil
	kept      map[stacks.ID]bool // those that it has
	owners    map[int64]owner    // by the numbers of their threads
	away      map[int64]owner    // those that have no processor, by what their kernel calls them
	callers   func(pid, thread int64, at time.Duration, callers []Caller)
}

type runtime = lives.Runtime[process]

// Needs are the flow of activities, the queue of the thread pool, and the times in which
// threads wait.
var Needs = []need.Need{
	{What: "the flow of activities", Provider: tpl, Keywords: 0x40080, Names: "TasksFlowActivityIds, DebugActivityId", Level: etw.LevelInformational, Events: [2]uint16{25}},
	{What: "the queue of the thread pool", Provider: pool, Keywords: 0x10, Names: "ThreadTransfer", Level: etw.LevelVerbose},
	{What: "collections, locks and workers", Provider: need.CLR, Keywords: 0x14001, Names: "GC, Contention, Threading", Level: etw.LevelInformational},
}

// Of returns the analysis that all users of a mux share.
func Of(mux *etw.Mux) *Analysis { return etw.Shared(mux, New) }

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{window: window.Of(mux)}
	a.processes.Watch(mux)
	a.followFlow(mux)
	a.followWaits(mux)
	a.followStates(mux)
	a.followKernel(mux)
	mux.HandleRest(a.rest)
	return a
}

// followFlow registers handlers of events that tell of activities whichever thread has them.
func (a *Analysis) followFlow(mux *etw.Mux) {
	on(a, mux, a.followTasks)
	on(a, mux, a.followThreads)
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, _ *clr.AnyThreadPoolWorkerThreadWait) { a.anew(rt, t, true) })
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, _ *clr.AnyThreadTerminated) { a.work(rt, t, nil) })
	on(a, mux, func(rt *runtime, t *thread, _ *etw.Record, e *clr.AnyGCSuspendEEBegin) {
		if suspend.ForGC(e.Reason) {
			rt.State.paused, rt.State.pauser = rt.Now, t
		}
	})
	on(a, mux, func(rt *runtime, _ *thread, _ *etw.Record, _ *clr.AnyGCRestartEEEnd) { rt.State.resume(rt.Now) })
}

// Tells returns what reports which records of other threads tell where the time of activities went,
// beside those of the threads that worked for them.
func Tells() func(*etw.Record) bool {
	var mux etw.Mux
	a := new(Analysis)
	a.followFlow(&mux)
	a.followWaits(&mux)
	flows := mux.Wants().Kind
	return func(r *etw.Record) bool { return isActivity(r) || flows(r) }
}

// isActivity reports whether a record is the begin or the end of an activity of an EventSource that
// only the trace describes.
func isActivity(r *etw.Record) bool {
	return r.Schema != nil && r.Kind == etw.KindManifest && (r.Opcode == etw.OpcodeStart || r.Opcode == etw.OpcodeStop) && actid.IsPath(r.ActivityID, r.ProcessID)
}

// OnSpan has do called for each time in which a thread worked for an activity, when it is
// over.
func (a *Analysis) OnSpan(do func(pid int64, s Span)) { a.spans = do }

// A Span is a time in which a thread worked for an activity. From and To are ticks of the
// trace, Since and Until the same since its session began.
type Span struct {
	Of           *Activity
	Thread       int64
	From, To     int64
	Since, Until time.Duration
}

// span tells of a time in which a thread worked.
func (a *Analysis) span(rt *runtime, t *thread, of *Activity, from, to int64) {
	if a.spans != nil {
		a.spans(rt.PID, Span{of, t.id, from, to, rt.Elapsed(from), rt.Elapsed(to)})
	}
}

// on registers a handler of an event that a thread wrote.
//
//go:noinline
func on[P etw.Described](a *Analysis, mux *etw.Mux, do func(*runtime, *thread, *etw.Record, P)) {
	etw.Handle(mux, func(r *etw.Record, e P) error {
		rt := a.processes.At(r, 0)
		if t := a.thread(rt, r.ThreadID); t != nil {
			if t.lost != r.Lost {
				rt.State.gap(t, r.Lost)
			}
			do(rt, t, r, e)
		}
		return nil
	})
}

// followThreads takes an event of the thread pool or of timers. Runtimes before 6 leave on
// threads for whom they worked; newer ones say at once for whom they work after these, and
// timers are items there.
func (a *Analysis) followThreads(rt *runtime, t *thread, r *etw.Record, e *poolEvent) {
	switch r.ID {
	case poolEnqueue:
		rt.State.enqueue(rt.Now, t, e.int64())
	case poolDequeue:
		a.work(rt, t, nil)
		rt.State.dequeue(rt.Now, t, e.int64())
	case transferReceive:
		a.anew(rt, t, t.item.address)
	}
}

// rest takes the records of EventSources that only the trace describes.
func (a *Analysis) rest(r *etw.Record) error {
	if !isActivity(r) {
		return nil
	}
	rt := a.processes.At(r, 0)
	t := a.thread(rt, r.ThreadID)
	if t == nil {
		return nil
	}
	rt.State.soon, rt.State.window = rt.Ticks(inline), rt.Within(a.window)
	if r.Opcode == etw.OpcodeStart {
		a.start(rt, t, r)
	} else {
		a.stop(rt, t, r)
	}
	return nil
}

// Lookup returns the activity that is on under an id, or nil.
func (a *Analysis) Lookup(r *etw.Record, id etw.GUID) *Activity {
	return a.processes.At(r, 0).State.live[id]
}

// Stopped returns the activity that the last stop event ended, or nil.
func (a *Analysis) Stopped() *Activity { return a.stopped }

// Finish ends all open activities at the end of the trace.
func (a *Analysis) Finish() {
	for _, rt := range a.processes.All() {
		for _, t := range rt.State.threads {
			a.work(rt, t, nil)
		}
	}
}
