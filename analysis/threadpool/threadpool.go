// Package threadpool answers whether the .NET thread pool is starved: how many threads it
// has over time, why it changes their number, and how long work waits in its queue. Use
// it when requests wait though processors are idle.
//
// Microsoft-Windows-DotNETRuntime with the keyword Threading (0x10000) at level 4
// writes the events of workers, and System.Diagnostics.Eventing.FrameworkEventSource with
// the keyword ThreadPool (0x2) at level 5 those of the queue: two for each piece of work.
package threadpool

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/dotnet/framework"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows thread pools in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	window   *window.Window
	workers  func(pid int64, atMS float64, workers int)
	named    func(*stacks.Samples) *stacks.Profile // or nil
}

// OnWorkers has do called whenever the runtime tells how many workers are active.
func (a *Analysis) OnWorkers(do func(pid int64, atMS float64, workers int)) { a.workers = do }

type runtime = lives.Runtime[state]

type state struct {
	workers                  measure.Levels
	highest, last            int
	wished                   measure.Float // by the last adjustment before the window
	started, stopped, waited int
	limits                   *Limits
	adjustments              []adjustment
	throughput               []float64
	measuredAt               int64   // when the last of these was
	weighed, weight          float64 // their sum and that of times, but for the first, whose time is not known
	queue                    *queue
	requested, granted       int
	ioEnqueued, ioDequeued   int
	ioThreads                int
	seen                     bool

	places   *stacks.Samples // where threads stood
	sampled  window.Count    // samples, and those in managed code
	standing map[int64]hold  // of each thread, the last one
	locking  map[int64]bool  // those that wait for a lock
	holds    []hold
}

type adjustment struct {
	Adjustment
	reason clr.ThreadAdjustmentReason
}

// Needs are workers, and why their number changes. The queue costs an event for each piece
// of work, and is not among them.
var Needs = []need.Need{{What: "the thread pool", Provider: need.CLR, Keywords: 0x10000, Names: "Threading", Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{window: window.Of(mux)}
	a.runtimes.Watch(mux)
	a.handleWorkers(mux)
	a.handleAdjustments(mux)
	a.handleQueue(mux)
	a.handleHolds(mux)
	return a
}

func (a *Analysis) handleWorkers(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolWorkerThreadStart) {
		a.active(rt, e.ActiveWorkerThreadCount, &rt.State.started)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolWorkerThreadStop) {
		a.active(rt, e.ActiveWorkerThreadCount, &rt.State.stopped)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolWorkerThreadWait) {
		a.active(rt, e.ActiveWorkerThreadCount, &rt.State.waited)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolWorkingThreadCount) {
		a.active(rt, e.Count, new(int))
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolMinMaxThreads) {
		rt.State.seen = true
		rt.State.limits = &Limits{int(e.MinWorkerThreads), int(e.MaxWorkerThreads), int(e.MinIOCompletionThreads), int(e.MaxIOCompletionThreads)}
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyIOThreadCreate) { a.forIO(rt, e.IOThreadCount) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.AnyIOThreadTerminate) { a.forIO(rt, e.IOThreadCount) })
}

// has reports whether the last record of a runtime is of the window, and isAfter whether it is after that.
func (a *Analysis) has(rt *runtime) bool {
	w := rt.Within(a.window)
	return w.Has(rt.Now)
}

func (a *Analysis) isAfter(rt *runtime) bool {
	w := rt.Within(a.window)
	return !w.NotAfter(rt.Now)
}

// active sets the number of active workers and counts the event. A window begins with the number
// of before.
func (a *Analysis) active(rt *runtime, n uint32, events *int) {
	s := &rt.State
	if a.isAfter(rt) {
		return
	}
	s.seen = true
	if !a.has(rt) {
		s.last, s.highest = int(n), int(n)
		return
	}
	s.enter(rt, a.window)
	*events++
	s.last = int(n)
	s.highest = max(s.highest, s.last)
	s.workers.Set(rt.At(rt.Now), float64(n))
	if a.workers != nil {
		a.workers(rt.PID, rt.At(rt.Now), s.last)
	}
}

// enter sets the number of workers with which a window begins, if one was told before.
func (s *state) enter(rt *runtime, w *window.Window) {
	if s.highest > 0 && s.workers.WidthMS == 0 {
		w := rt.Within(w)
		from, _ := w.Clip(rt.First, rt.Now)
		s.workers.Set(rt.At(from), float64(s.highest))
	}
}

func (a *Analysis) forIO(rt *runtime, n uint32) {
	if !a.isAfter(rt) {
		rt.State.ioThreads = int(n)
	}
}

func (a *Analysis) handleAdjustments(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolWorkerThreadAdjustmentAdjustment) {
		s := &rt.State
		switch {
		case a.isAfter(rt):
		case !a.has(rt):
			s.wished = measure.Known(float64(e.NewWorkerThreadCount))
		default:
			s.seen = true
			s.adjustments = append(s.adjustments, adjustment{
				Adjustment{rt.At(rt.Now), e.NewWorkerThreadCount, e.Reason.String(), measure.Known(e.AverageThroughput)}, e.Reason})
		}
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.ThreadPoolWorkerThreadAdjustmentSample) {
		if !a.has(rt) {
			return
		}
		rt.State.seen = true
		if v, ok := measure.Known(e.Throughput).Get(); ok {
			rt.State.measured(rt.Now, v)
		}
	})
}

func (a *Analysis) handleQueue(mux *etw.Mux) {
	t := &a.runtimes
	lives.OnBare(t, mux, func(rt *runtime, _ *etw.Record, e *framework.ThreadPoolEnqueueWork) {
		rt.State.queued().enter(e.WorkID, rt.Now, a.has(rt))
	})
	lives.OnBare(t, mux, func(rt *runtime, _ *etw.Record, e *framework.ThreadPoolDequeueWork) {
		rt.State.queued().begin(e.WorkID, rt.Now, a.has(rt))
	})
	// Those of the runtime are its own queue, in which .NET Core 3.1 and before ask it for workers.
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.ThreadPoolEnqueue) { a.count(rt, &rt.State.requested) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.ThreadPoolDequeue) { a.count(rt, &rt.State.granted) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.ThreadPoolIOEnqueue) { a.count(rt, &rt.State.ioEnqueued) })
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.ThreadPoolIODequeue) { a.count(rt, &rt.State.ioDequeued) })
}

func (a *Analysis) count(rt *runtime, events *int) {
	if a.has(rt) {
		rt.State.seen = true
		*events++
	}
}

// queued returns the queue of a pool of which an event of it came.
func (s *state) queued() *queue {
	s.seen = true
	if s.queue == nil {
		s.queue = &queue{at: make(map[int64]int64)}
	}
	return s.queue
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if rt.State.seen {
			res.Runtimes = append(res.Runtimes, rt.State.result(rt, a.window, a.named))
		}
	}
	return res
}

// measured takes what the pool measured since the measurement before.
func (s *state) measured(at int64, perSec float64) {
	if len(s.throughput) > 0 {
		took := float64(at - s.measuredAt)
		s.weighed, s.weight = s.weighed+perSec*took, s.weight+took
	}
	s.throughput, s.measuredAt = append(s.throughput, perSec), at
}

func (s *state) result(rt *runtime, w *window.Window, named func(*stacks.Samples) *stacks.Profile) *Runtime {
	s.enter(rt, w)
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life,
		Workers: s.workers.Clone(), MaxWorkers: s.highest, LastWorkers: s.last,
		Started: s.started, Stopped: s.stopped, Waited: s.waited, Limits: s.limits,
		Adjustments: []Adjustment{}, Reasons: []Reason{}, ThroughputPerSec: measure.Summarize(slices.Clone(s.throughput)),
		WorkersRequested: s.requested, WorkersGranted: s.granted, IOEnqueued: s.ioEnqueued, IODequeued: s.ioDequeued, IOThreads: s.ioThreads}
	if s.weight > 0 {
		out.ThroughputPerSec.Mean = measure.Known(s.weighed / s.weight)
	}
	var signs []stretch
	var waits measure.Summary
	if s.queue != nil {
		var whole []float64
		out.Queue, whole, signs = s.queue.result(rt, rt.Within(w))
		waits = measure.Summarize(whole)
	}
	reasons := map[string]int{}
	for _, adj := range s.adjustments {
		out.Adjustments = append(out.Adjustments, adj.Adjustment)
		reasons[adj.Adjustment.Reason]++
	}
	for name, n := range reasons {
		out.Reasons = append(out.Reasons, Reason{name, n})
	}
	order.Sort(out.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	if out.Starvation = s.starvation(signs, waits, out.Queue); out.Starvation != nil {
		s.holders(rt, named, out.Starvation)
	}
	return out
}
