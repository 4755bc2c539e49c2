package threads

import (
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// recordScheduler takes the events in which the scheduler of Linux itself tells that a
// processor goes from one thread to another, and that a thread can run again.
func (a *Analysis) recordScheduler(r *etw.Record) {
	switch r.Schema.Name {
	case "sched_switch":
		if !a.blurred && a.read(r) {
			a.scheduled(r)
		}
	case "sched_waking", "sched_wakeup", "sched_wakeup_new":
		if !a.blurred && a.read(r) {
			a.readies++
			if x := a.kernels[a.fields.Value("pid").Int()]; x != nil {
				a.wakes(x, r, a.fields.Value("common_flags").Uint()&interrupted != 0)
			}
		}
	}
}

// interrupted are the bits of common_flags that say that the kernel served a device or a
// timer, or the rest of such work.
const interrupted = 0x08 | 0x10

// read reads the fields of an event of the kernel of Linux.
func (a *Analysis) read(r *etw.Record) bool {
	known := tracepoints.Of(r)
	return known != nil && a.fields.ReadAs(known.Events[0], r)
}

// scheduled takes that a processor goes from one thread to another. The stack is where
// the one that goes stops.
func (a *Analysis) scheduled(r *etw.Record) {
	p := a.processor(r)
	if p == nil {
		a.gaps++
		return
	}
	at := a.at(r)
	a.switches++
	a.scheduler = true
	before := a.numbered(a.fields.Value("prev_pid").Int(), a.fields.Text("prev_comm"))
	after := a.numbered(a.fields.Value("next_pid").Int(), a.fields.Text("next_comm"))
	a.count(p, before, at)
	if before.TID != 0 {
		a.leaves(before, p, int(r.Processor), at)
		before.stack = system.CallStack{User: a.bound.Intern(r.Stack)}
		before.stops(a.fields.Value("prev_state").Int())
	}
	if after.TID != 0 && a.comes(after, at) {
		o := &a.off[len(a.off)-1]
		o.stack, o.processor = after.stack, r.Processor
	}
	after.runsOn(int(r.Processor), p, at)
}

// The states of a thread, in bits of which it has one.
const (
	sleepStates = 0xff // all in which it does not run on
	deadStates  = 0x30
)

// whys are the causes of waits, by state.
var whys = map[int64]string{0x01: "Interruptible", 0x02: "Uninterruptible", 0x04: "Stopped", 0x08: "Traced", 0x40: "Parked", 0x80: "Idle"}

// stops takes the state in which a thread goes. Beyond [sleepStates] is one bit that says
// that it was made to.
func (x *thread) stops(state int64) {
	switch state &= sleepStates; {
	case state == 0:
		x.does = ready
	case state&deadStates != 0:
		x.does, x.over = unknown, true
	default:
		x.does, x.why = waiting, whys[state]
		if x.why == "" {
			x.why = "Unknown"
		}
	}
}

// numbered returns the thread that the kernel of Linux numbers so. Recorders number them
// as they are in their namespace, which is known as soon as there was an event on one:
// until then, and if it is of another namespace, it has the number of the kernel and is
// of no process.
func (a *Analysis) numbered(number int64, name string) *thread {
	if a.kernels == nil {
		a.kernels = make(map[int64]*thread)
	}
	x := a.kernels[number]
	var t *system.Thread
	if number != 0 { // of the idle ones, which recorders take for anybody
		t = a.machine.ThreadOf(number)
	}
	switch {
	case x == nil && t == nil:
		x, _ = a.of(&system.Thread{TID: number, Name: name})
	case t == nil || x != nil && x.Thread == t:
		return x
	case x != nil && x.Process == nil && a.threads[t] == nil: // it is known now
		delete(a.threads, x.Thread)
		x.Thread, a.threads[t] = t, x
	default:
		x, _ = a.of(t)
	}
	a.kernels[number] = x
	return x
}
