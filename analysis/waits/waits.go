// Package waits follows the waits of the threads of a .NET program beside locks: events,
// semaphores, tasks and Monitor.Wait. Use it when a program is slow with idle processors,
// and package contention finds no lock.
//
// Microsoft-Windows-DotNETRuntime with the keyword WaitHandle (0x40000000000) at
// level 5 writes the events, from .NET 9 on. With Threading (0x10000) too, workers
// of the thread pool are known as such.
package waits

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the waits in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	window   *window.Window
}

type runtime = lives.Runtime[state]

type state struct {
	waits   spans.Waits[clr.WaitHandleWaitSource]
	locking map[int64]*inLock // by thread
	inLocks int
	sources map[clr.WaitHandleWaitSource]*Source
	threads map[int64]*Thread
	pool    map[int64]bool
	longest top.List[Wait]
}

// An inLock is a wait for a lock that is on, in which it waits for an event how often: these are
// how it waits, and no waits beside.
type inLock struct{ waits int }

// Needs are begin and end of waits. NeedsPool are those with which workers of the thread
// pool, which mostly wait for work, are known as such.
var (
	Needs     = []need.Need{{What: "waits (from .NET 9 on)", Provider: need.CLR, Keywords: 0x40000000000, Names: "WaitHandle", Level: etw.LevelVerbose, Events: [2]uint16{301}}}
	NeedsPool = []need.Need{{What: "waits (from .NET 9 on)", Provider: need.CLR, Keywords: 0x40000010000, Names: "WaitHandle and Threading", Level: etw.LevelVerbose, Events: [2]uint16{301}}}
)

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, NeedsPool)()
	a := &Analysis{window: window.Of(mux)}
	a.runtimes.Watch(mux)
	lives.On(&a.runtimes, mux, a.begin)
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.WaitHandleWaitStop) {
		if lock := rt.State.locking[r.ThreadID]; lock != nil && lock.waits > 0 {
			lock.waits--
			rt.State.inLocks++
			return
		}
		rt.State.waits.Window = a.window
		stop(rt, r)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyContentionStart) {
		if rt.State.locking == nil {
			rt.State.locking = make(map[int64]*inLock)
		}
		rt.State.locking[r.ThreadID] = new(inLock)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.AnyContentionStop) { delete(rt.State.locking, r.ThreadID) })
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.ThreadPoolWorkerThreadStart) { rt.State.worker(r.ThreadID) })
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *clr.ThreadPoolWorkerThreadWait) { rt.State.worker(r.ThreadID) })
	return a
}

// worker notes that a thread is of the thread pool.
func (s *state) worker(thread int64) {
	if s.pool == nil {
		s.pool = make(map[int64]bool)
	}
	s.pool[thread] = true
}

func (a *Analysis) begin(rt *runtime, r *etw.Record, e *clr.WaitHandleWaitStart) {
	if lock := rt.State.locking[r.ThreadID]; lock != nil && e.WaitSource != clr.WaitHandleWaitSourceMonitorWait {
		lock.waits++
		return
	}
	w := &rt.State.waits
	if w.Samples == nil {
		w.Window = a.window
		w.Samples = stacks.NewSamples("waits", stacks.ValueType{Name: "waits", Unit: "count"}, stacks.ValueType{Name: "wait", Unit: "nanoseconds"})
	}
	w.Begin(&rt.Time, r, e.WaitSource)
}

func stop(rt *runtime, r *etw.Record) {
	s := &rt.State
	b, ok := s.waits.End(&rt.Time, r)
	if !ok {
		return
	}
	ms, meets := s.waits.Part(&b, rt.MS(rt.Now-b.At))
	if !meets {
		return
	}
	if s.sources == nil {
		s.sources, s.threads = make(map[clr.WaitHandleWaitSource]*Source), make(map[int64]*Thread)
	}
	source := s.sources[b.Of]
	if source == nil {
		source = &Source{Source: b.Of.String()}
		s.sources[b.Of] = source
	}
	source.Count++
	source.TotalMS += ms
	thread := s.threads[r.ThreadID]
	if thread == nil {
		thread = &Thread{Thread: r.ThreadID}
		s.threads[r.ThreadID] = thread
	}
	thread.Count++
	thread.TotalMS += ms
	thread.MaxMS = max(thread.MaxMS, ms)
	s.waits.Add(&rt.Time, r, &b, s.waits.Samples.Label(0, "source", source.Source), ms)
	s.longest.Add(ms, row(rt, &b, r.ThreadID, ms))
}

// row returns a wait as results have it.
func row(rt *runtime, b *spans.Wait[clr.WaitHandleWaitSource], thread int64, ms float64) Wait {
	return Wait{StartMS: rt.At(b.At), DurationMS: ms, Thread: thread, Source: b.Of.String(), at: b.Time}
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if rt.State.waits.Seen {
			out := rt.State.result(rt)
			if a.window.Chosen() && out.Count+out.Open == 0 {
				continue
			}
			res.Runtimes = append(res.Runtimes, out)
			res.Count += out.Count
			res.TotalMS += out.TotalMS
		}
	}
	return res
}

func (s *state) result(rt *runtime) *Runtime {
	w := &s.waits
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, DurationMS: w.Durations(), StopsWithoutStart: w.Orphans, LostStops: w.Lost,
		Sources: []Source{}, Threads: []Thread{}, Longest: s.longest.All(), Series: w.Series.Clone()}
	out.Count, out.TotalMS = out.DurationMS.Count, out.DurationMS.Total
	var unended top.List[Wait]
	lost := 0
	out.Open, lost, out.OpenMS = w.Unfinished(rt.PID, &rt.Time, func(thread int64, b *spans.Wait[clr.WaitHandleWaitSource], ms float64) {
		x := row(rt, b, thread, ms)
		x.Open = true
		unended.Add(ms, x)
	})
	out.LostStops += lost
	out.InLocks, out.Unended = s.inLocks, unended.All()
	for _, v := range s.sources {
		out.Sources = append(out.Sources, *v)
	}
	order.Sort(out.Sources, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(a.Source, b.Source))
	})
	for id, v := range s.threads {
		t := *v
		t.Pool = s.pool[id]
		out.Threads = append(out.Threads, t)
	}
	order.Sort(out.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(a.Thread, b.Thread))
	})
	out.PoolUntold = len(s.pool) == 0
	for i := range out.Threads { // in one order, so that the sums are the same each time
		if t := &out.Threads[i]; t.Pool {
			out.PoolMS += t.TotalMS
		} else {
			out.OtherMS += t.TotalMS
		}
	}
	if w.Samples == nil {
		return out
	}
	for _, x := range w.Samples.SumByStack() {
		if len(x.Stack) > 0 {
			out.Stacks = append(out.Stacks, Stack{uint64(x.Values[0]), float64(x.Values[1]) / 1e6, x.Stack})
		}
	}
	return out
}

// Unended returns the waits that are not over, with the stacks of where they began.
func (a *Analysis) Unended() (list []*stacks.Samples) {
	for _, rt := range a.runtimes.All() {
		if s := rt.State.waits.Unended(rt.PID, &rt.Time); s != nil {
			list = append(list, s)
		}
	}
	return list
}

// Samples returns the waits that are over, with the stacks of where they began.
func (a *Analysis) Samples() []*stacks.Samples {
	return spans.Samples(&a.runtimes, func(s *state) *stacks.Samples { return s.waits.Samples })
}
