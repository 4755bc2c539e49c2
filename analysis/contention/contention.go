// Package contention answers which locks threads of a .NET program wait for, how long,
// where, and who holds them. Use it when a program is slow with idle processors; other waits
// of threads are in package waits.
//
// Microsoft-Windows-DotNETRuntime with the keyword Contention (0x4000) at level 4
// writes the events. Locks and their owners are known from .NET 8 on.
package contention

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/methods"
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the contention in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	code     methods.Code
	window   *window.Window
}

type runtime = lives.Runtime[state]

type state struct {
	waits    spans.Waits[start]
	byEvents float64 // ms
	native   int
	locks    map[lock]*sum
	objects  map[lock]uint64 // where those of the locks were last
	rounds   map[uint64]int  // of ids, how many locks ContentionLockCreated told of
	owners   map[int64]*sum
	threads  map[int64]*sum
	longest  top.List[waited]
	code     *methods.Known
}

// A lock has an id, which another one may have when it is no more: round tells them apart. The
// object that it is of moves.
type lock struct {
	id    uint64
	round int
}

// A waited is a wait that is over.
type waited struct {
	spans.Wait[start]
	ms     float64
	thread int64
}

type start struct {
	lock   lock
	object uint64
	owner  int64
}

type sum struct {
	count      int
	total, max float64
}

func (s *sum) add(ms float64) {
	s.count++
	s.total += ms
	s.max = max(s.max, ms)
}

func at[K comparable](m map[K]*sum, k K) *sum {
	s := m[k]
	if s == nil {
		s = new(sum)
		m[k] = s
	}
	return s
}

// Needs are begin and end of waits for locks.
var Needs = []need.Need{{What: "contention", Provider: need.CLR, Keywords: 0x4000, Names: "Contention", Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{window: window.Of(mux)}
	a.runtimes.Watch(mux)
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyContentionStart) {
		a.init(rt, r)
		begin(rt, r, e)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.AnyContentionStop) {
		a.init(rt, r)
		stop(rt, r, e)
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *clr.ContentionLockCreated) {
		a.init(rt, r)
		s, id := &rt.State, uint64(e.LockID)
		s.rounds[id]++
		s.objects[lock{id, s.rounds[id]}] = uint64(e.AssociatedObjectID)
	})
	a.code.Follow(mux, func(class, method etw.UTF16) int {
		if class.Equal(monitor) && method.Equal(wait) {
			return 0
		}
		return -1
	})
	return a
}

var monitor, wait = etw.MakeUTF16("System.Threading.Monitor"), etw.MakeUTF16("Wait")

// reentries counts the waits of threads that were pulsed and enter their lock again: their
// innermost frames are those of Monitor.Wait, which calls no code of the program. Of untold
// there is no stack, or no list of methods.
func (s *state) reentries(of []stacks.Weight) (n, untold int) {
	const most = 8 // frames of the runtime
	for i := range of {
		count, frames := int(of[i].Values[0]), of[i].Stack
		switch {
		case slices.ContainsFunc(frames[:min(len(frames), most)], s.code.Spans[0].Has):
			n += count
		case len(frames) == 0 || !s.code.Complete:
			untold += count
		}
	}
	return n, untold
}

// Skip learns from a record that is not to count, such as one outside of the time that was asked
// for, which code there is: the list of all methods is at the end of a trace.
func (a *Analysis) Skip(r *etw.Record) error { return a.code.Skip(r) }

func (a *Analysis) init(rt *runtime, r *etw.Record) {
	if s := &rt.State; s.locks == nil {
		s.code, s.waits.Window = a.code.Of(r, rt.CLR), a.window
		s.locks, s.objects, s.rounds = make(map[lock]*sum), make(map[lock]uint64), make(map[uint64]int)
		s.owners, s.threads = make(map[int64]*sum), make(map[int64]*sum)
		s.waits.Samples = stacks.NewSamples("contention", stacks.ValueType{Name: "contentions", Unit: "count"}, stacks.ValueType{Name: "delay", Unit: "nanoseconds"})
	}
}

func begin(rt *runtime, r *etw.Record, e *clr.AnyContentionStart) {
	s := &rt.State
	of := lock{uint64(e.LockID), s.rounds[uint64(e.LockID)]}
	if object := uint64(e.AssociatedObjectID); object != 0 && of.id != 0 {
		s.objects[of] = object
	}
	s.waits.Begin(&rt.Time, r, start{of, s.objects[of], int64(e.LockOwnerThreadID)})
}

func stop(rt *runtime, r *etw.Record, e *clr.AnyContentionStop) {
	s := &rt.State
	b, ok := s.waits.End(&rt.Time, r)
	byEvents := rt.MS(rt.Now - b.At)
	ms := byEvents
	switch {
	case e.HasDurationNs() && e.DurationNs >= 0 && e.DurationNs <= math.MaxInt64:
		ms = e.DurationNs / 1e6
	case b.Untold:
		return
	}
	ms, meets := s.waits.Part(&b, ms)
	if !meets {
		return
	}
	if ok {
		byEvents, _ = s.waits.Part(&b, byEvents)
		s.byEvents += byEvents
	}
	if e.ContentionFlags == clr.ContentionFlagsNative {
		s.native++
	}
	at(s.threads, r.ThreadID).add(ms)
	if ok {
		at(s.locks, b.Of.lock).add(ms)
	}
	at(s.owners, b.Of.owner).add(ms)
	s.waits.Add(&rt.Time, r, &b, 0, ms)
	s.longest.Add(ms, waited{b, ms, r.ThreadID})
}

// Samples returns the waits that are over, with the stacks of where they began.
func (a *Analysis) Samples() []*stacks.Samples {
	return spans.Samples(&a.runtimes, func(s *state) *stacks.Samples { return s.waits.Samples })
}

// hex returns an address, or "" for none.
func hex(v uint64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", v)
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
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, DurationMS: w.Durations(), TotalByEventsMS: s.byEvents,
		Native: s.native, StopsWithoutStart: w.Orphans, LostStops: w.Lost, Locks: []Lock{}, Longest: []Wait{}, Series: w.Series.Clone(),
		Owners: threadList(s.owners), Threads: threadList(s.threads)}
	out.Count, out.TotalMS = out.DurationMS.Count, out.DurationMS.Total
	s.unfinished(rt, out)
	if x := s.owners[0]; x != nil {
		out.WithoutOwner = &Waits{x.count, x.total, x.max}
		out.Owners = order.Delete(out.Owners, func(x Thread) bool { return x.Thread == 0 })
	}
	for _, x := range s.longest.All() {
		out.Longest = append(out.Longest, x.row(rt))
	}
	for k, v := range s.locks {
		out.Locks = append(out.Locks, Lock{hex(k.id), hex(s.objects[k]), v.count, v.total, v.max})
	}
	order.Sort(out.Locks, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Object, b.Object))
	})
	sums := w.Samples.Sum()
	out.Reentries, out.Untold = s.reentries(sums)
	for _, x := range sums {
		if len(x.Stack) > 0 {
			out.Stacks = append(out.Stacks, Stack{uint64(x.Values[0]), float64(x.Values[1]) / 1e6, x.Stack})
		}
	}
	return out
}

func threadList(m map[int64]*sum) []Thread {
	list := []Thread{}
	for k, v := range m {
		list = append(list, Thread{k, v.count, v.total, v.max})
	}
	order.Sort(list, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.TotalMS, a.TotalMS), cmp.Compare(a.Thread, b.Thread))
	})
	return list
}
