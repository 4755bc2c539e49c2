package activities

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Where a kernel tells of its switches, threads that work are on a processor, wait, or are
// ready, and samples have no say. Its numbers of threads are of the whole machine: the threads
// that are followed have an index by these. Of a trace in which a recorder of Linux and the
// scheduler itself tell of the same rests, the first one counts.

// An owner is a thread in its process.
type owner struct {
	rt *runtime
	t  *thread
}

// A rest is the time since which a thread that works has no processor, or none.
type rest struct {
	since   int64
	waits   bool // for something, and does not only lack a processor
	readied int64
	code    stacks.ID // where it stopped
}

// states returns a rest until a time as a wait, and as the time in which it was ready.
func (x rest) states(thread, now int64) (list [2]state) {
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
	return t.rest.since != 0 || t.switched != 0 && rt.Now-t.switched < rt.Ticks(onProcessors)
}

// thread returns a thread of a process, or nil if there are too many.
func (a *Analysis) thread(rt *runtime, id int64) *thread {
	known := len(rt.State.threads)
	t := rt.State.thread(id)
	if len(rt.State.threads) > known {
		if a.owners == nil {
			a.owners, a.away = make(map[int64]owner), make(map[int64]owner)
		}
		a.owners[id] = owner{rt, t}
	}
	return t
}

func (a *Analysis) followKernel(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyThreadCSwitch) error {
		if before := a.owners[int64(e.OldThreadID)]; before.t != nil {
			switch e.OldThreadState {
			case kernel.ThreadStateReady, kernel.ThreadStateStandby, kernel.ThreadStateRunning, kernel.ThreadStateDeferredReady:
				a.leaves(r, before, before.t.id, false, 0)
			default:
				a.leaves(r, before, before.t.id, true, 0)
			}
		}
		a.comes(r, int64(e.NewThreadID), true)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyThreadReadyThread) error {
		a.wakes(r, int64(e.TThreadID))
		return nil
	})
}

// leaves takes that a thread goes off its processor, by the number that the kernel gives it.
func (a *Analysis) leaves(r *etw.Record, x owner, number int64, waits bool, code stacks.ID) {
	x.rt.Notice(r)
	x.t.rest, x.t.switched = rest{}, x.rt.Now
	if x.t.cur != nil {
		x.t.endSample(x.rt.Now)
		x.t.rest = rest{since: x.rt.Now, waits: waits, code: code}
		a.away[number] = x
	}
}

// wakes takes that a thread no longer waits.
func (a *Analysis) wakes(r *etw.Record, number int64) {
	if x := a.away[number]; x.t != nil && x.t.rest.waits && x.t.rest.readied == 0 {
		x.rt.Notice(r)
		x.t.rest.readied = x.rt.Now
	}
}

// comes takes that a thread has a processor again. The call stack of the record may be that of
// the thread, which is where it had stopped.
func (a *Analysis) comes(r *etw.Record, number int64, stopped bool) {
	x := a.away[number]
	if x.t == nil {
		return
	}
	delete(a.away, number)
	x.rt.Notice(r)
	if x.t.rest.since != 0 {
		if x.t.rest.waits && stopped {
			x.t.rest.code = a.codeOf(r, x.rt.PID, x.t.id, true)
		}
		for _, s := range x.t.rest.states(x.t.id, x.rt.Now) {
			x.t.spent(s)
		}
	}
	x.t.rest, x.t.switched = rest{}, x.rt.Now
}

// followLinux takes a record of a recorder of Linux, or of the scheduler of its kernel.
func (a *Analysis) followLinux(r *etw.Record) {
	switch {
	case r.Schema == nil || len(a.owners) == 0:
	case r.ProviderName == "sched" && !a.rests:
		a.followScheduler(r)
	case r.ProviderName == "Universal.Events" && r.Schema.Name == "cswitch" && !a.scheduler:
		a.rests = true
		a.followRest(r)
	}
}

func (a *Analysis) followScheduler(r *etw.Record) {
	switch r.Schema.Name {
	case "sched_switch":
		if known := tracepoints.Of(r); known == nil || !a.fields.ReadAs(known.Events[0], r) {
			return
		}
		a.scheduler = true
		// The record is of the thread that goes, as its recorder numbers it.
		if x := a.owners[r.ThreadID]; x.t != nil && x.rt.PID == r.ProcessID {
			waits := a.fields.Value("prev_state").Int()&sleeps != 0
			code := stacks.ID(0)
			if waits && x.t.cur != nil {
				code = a.code(r, true)
			}
			a.leaves(r, x, a.fields.Value("prev_pid").Int(), waits, code)
		}
		a.comes(r, a.fields.Value("next_pid").Int(), false)
	case "sched_waking", "sched_wakeup":
		if known := tracepoints.Of(r); known != nil && len(a.away) > 0 && a.fields.ReadAs(known.Events[0], r) {
			a.wakes(r, a.fields.Value("pid").Int())
		}
	}
}

// sleeps are the states of a thread of Linux that does not run on.
const sleeps = 0xff

// followRest takes that a thread goes off its processor, and for how long. That is
// told when it begins. Whether the thread waits, or another one has the processor, its call
// stack tells, which is where it stopped; without one it waits.
func (a *Analysis) followRest(r *etw.Record) {
	rt := a.processes.At(r, 0)
	t := rt.State.threads[r.ThreadID]
	ns, n := binary.Uvarint(r.Payload)
	if t == nil || t.cur == nil || n <= 0 || ns > uint64(maxRest) {
		return
	}
	t.endSample(rt.Now)
	s := state{from: rt.Now, to: rt.Now + rt.Ticks(time.Duration(ns)), kind: Blocked}
	if s.code = a.code(r, true); s.code != 0 {
		s.kind = Ready
	}
	t.spent(s)
	t.switched = s.to
}

// maxRest bounds how long a thread rests.
const maxRest = 24 * time.Hour
