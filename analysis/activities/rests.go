package activities

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/switches"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Where a kernel tells of its switches, threads that work are on a processor, wait, or are
// ready, and samples have no say. Its numbers of threads are of the whole machine: the threads
// that are followed have an index by these.

// An owner is a thread in its process.
type owner struct {
	rt *runtime
	t  *thread
}

// A rest is the time since which a thread that works has no processor, or none.
type rest struct {
	since   int64
	till    int64 // if a recorder told it ahead
	waits   bool  // for something, and does not only lack a processor
	readied int64
	code    stacks.ID // where it stopped
}

// states returns a rest until a time as a wait, and as the time in which it was ready.
func (x rest) states(thread, now int64) (list [2]state) {
	if x.till != 0 {
		now = min(now, x.till)
	}
	readied := x.since
	if x.waits {
		readied = now
	}
	if x.readied != 0 {
		readied = x.readied
	}
	return [2]state{{thread: thread, from: x.since, to: readied, kind: Blocked, code: x.code}, {thread: thread, from: readied, to: now, kind: Ready}}
}

// onProcessors is for how long after a switch of a thread the trace tells of all: kernels and
// runtimes are recorded for times of their own.
const onProcessors = time.Second

// told reports whether switches tell if the thread has a processor.
func (t *thread) told(rt *runtime) bool {
	t.back(rt.Now)
	return t.rest.since != 0 || t.switched != 0 && rt.Now-t.switched < rt.Ticks(onProcessors)
}

// thread returns a thread of a process, or nil if there are too many.
func (a *Analysis) thread(rt *runtime, id int64) *thread {
	known := len(rt.State.threads)
	t := rt.State.thread(id)
	if len(rt.State.threads) > known {
		a.owners[id] = owner{rt, t}
	}
	return t
}

func (a *Analysis) followKernel(mux *etw.Mux) {
	a.owners, a.away = make(map[int64]owner), make(map[int64]owner)
	switches.Watch(mux, &switches.Listener{Any: func() bool { return len(a.owners) > 0 }, Switch: a.switched, Wakes: a.wakes, Rests: a.rests})
}

// switched takes that a thread goes off its processor, and another one has it.
func (a *Analysis) switched(r *etw.Record, s *switches.Switch) {
	a.goes(r, s)
	a.comes(r, s)
}

func (a *Analysis) goes(r *etw.Record, s *switches.Switch) {
	thread, waits := s.From, s.State != switches.Ready
	if s.Linux {
		thread = r.ThreadID
	}
	x := a.owners[thread]
	if x.t == nil || s.Linux && x.rt.PID != r.ProcessID {
		return
	}
	x.rt.Notice(r)
	x.rt.State.waited = true
	x.t.back(x.rt.Now)
	x.t.rest, x.t.switched = rest{}, x.rt.Now
	if x.t.cur == nil {
		return
	}
	x.t.endSample(x.rt.Now)
	x.t.rest = rest{since: x.rt.Now, waits: waits}
	if waits && s.Linux {
		x.t.rest.code = a.code(r, true)
	}
	a.away[s.From] = x
}

// wakes takes that a thread no longer waits.
func (a *Analysis) wakes(r *etw.Record, number int64, _, _ bool) {
	x := a.away[number]
	if x.t == nil {
		return
	}
	x.rt.Notice(r)
	if x.t.back(x.rt.Now); x.t.rest.waits && x.t.rest.readied == 0 {
		x.t.rest.readied = x.rt.Now
	}
}

func (a *Analysis) comes(r *etw.Record, s *switches.Switch) {
	x := a.away[s.To]
	if x.t == nil {
		return
	}
	delete(a.away, s.To)
	x.rt.Notice(r)
	if x.t.rest.waits && !s.Linux {
		x.t.rest.code = a.codeOf(r, x.rt.PID, x.t.id, true)
	}
	x.t.back(x.rt.Now)
	x.t.runs(x.rt.Now)
}

// runs takes that the thread has a processor from now on.
func (t *thread) runs(now int64) {
	if t.rest.since != 0 {
		for _, part := range t.rest.states(t.id, now) {
			t.spent(part)
		}
	}
	t.rest, t.switched = rest{}, now
}

// back takes that the thread came back before now, if a recorder told that.
func (t *thread) back(now int64) {
	if at := t.rest.till; at != 0 && at < now {
		t.runs(at)
	}
}

// rests takes that a thread goes off its processor, and for how long. That is told when it
// begins. Whether the thread waits, or another one has the processor, its call stack tells,
// which is where it stopped; without one it waits.
func (a *Analysis) rests(r *etw.Record, d time.Duration) {
	rt := a.processes.At(r, 0)
	t := rt.State.threads[r.ThreadID]
	if t == nil || t.cur == nil {
		return
	}
	if t.back(rt.Now); t.rest.since != 0 { // the scheduler told that it went, and how
		t.rest.till = rt.Now + rt.Ticks(d)
		return
	}
	t.endSample(rt.Now)
	s := state{from: rt.Now, to: rt.Now + rt.Ticks(d), kind: Blocked}
	if s.code = a.code(r, true); s.code != 0 {
		s.kind = Ready
	}
	t.spent(s)
	t.switched = s.to
}
