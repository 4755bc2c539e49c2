// Package switches tells when threads go off their processors and come back, as the kernels of
// Windows and of Linux say it, and recorders of Linux.
package switches

import (
	"cmp"
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Listener is told of switches. Numbers of threads are those of the kernel: on Linux a
// recorder in a namespace has others.
type Listener struct {
	// Any reports whether somebody wants to know yet. Nil is always.
	Any    func() bool
	Switch func(r *etw.Record, s *Switch)
	// Wakes is of a thread that is ready from now on. An interrupt may have made it so.
	Wakes func(r *etw.Record, number int64, linux, interrupt bool)
	// Rests is of the thread of the record, which goes for a time. It may only lack a processor. Where
	// the scheduler tells that the thread goes, a recorder tells when it is back: of one process alone
	// the scheduler has the switches away from its threads, and of those to them a part.
	Rests func(r *etw.Record, d time.Duration)
}

// A Switch is that a thread goes off its processor, and another one has it. On Linux the record
// is of the thread that goes, and its call stack is where that stops. On Windows it is of nobody,
// and the stack is where the one that comes had stopped.
type Switch struct {
	Linux            bool
	From, To         int64
	FromName, ToName string // on Linux
	State            State
	Why              string // it waits
}

// A State is that of a thread that goes.
type State uint8

// The states.
const (
	Ready State = iota
	Waits
	Over
)

// A source tells the listener.
type source struct {
	to     *Listener
	fields dyn.Reader
}

// Watch registers handlers at a mux that tell the listener.
func Watch(mux *etw.Mux, to *Listener) {
	if to.Any == nil {
		to.Any = func() bool { return true }
	}
	s := &source{to: to}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadCSwitch) {
		if to.Any() {
			x := Switch{From: int64(e.OldThreadID), To: int64(e.NewThreadID)}
			switch e.OldThreadState {
			case kernel.ThreadStateTerminated:
				x.State = Over
			case kernel.ThreadStateReady, kernel.ThreadStateStandby, kernel.ThreadStateRunning, kernel.ThreadStateDeferredReady:
			default:
				x.State, x.Why = Waits, e.OldThreadWaitReason.String()
			}
			to.Switch(r, &x)
		}
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyThreadReadyThread) {
		if to.Any() {
			to.Wakes(r, int64(e.TThreadID), false, e.Flag&kernel.ReadyThreadFlagsExecutingDpc != 0)
		}
	})
	mux.HandleRest(s.take)
}

// maxRest bounds how long a thread rests.
const maxRest = 24 * time.Hour

// take takes a record of a recorder of Linux, or of the scheduler of its kernel.
func (s *source) take(r *etw.Record) error {
	switch {
	case r.Schema == nil || !s.to.Any():
	case r.ProviderName == "sched":
		s.scheduled(r)
	case r.ProviderName == "Universal.Events" && r.Schema.Name == "cswitch":
		if ns, n := binary.Uvarint(r.Payload); n > 0 && ns <= uint64(maxRest) {
			s.to.Rests(r, time.Duration(ns))
		}
	}
	return nil
}

// The states of a thread of Linux, in bits of which it has one. Beyond sleeps is one that says
// that it was made to go.
const (
	sleeps = 0xff // all in which it does not run on
	dead   = 0x30
)

// whys are the causes of waits, by state.
var whys = map[int64]string{0x01: "Interruptible", 0x02: "Uninterruptible", 0x04: "Stopped", 0x08: "Traced", 0x40: "Parked", 0x80: "Idle"}

// interrupted are the bits of common_flags that say that the kernel served a device or a
// timer, or the rest of such work.
const interrupted = 0x08 | 0x10

func (s *source) scheduled(r *etw.Record) {
	name := r.Schema.Name
	if name != "sched_switch" && name != "sched_waking" && name != "sched_wakeup" && name != "sched_wakeup_new" {
		return
	}
	known := tracepoints.Of(r)
	if known == nil || !s.fields.ReadAs(known.Events[0], r) {
		return
	}
	number := func(field string) int64 { return s.fields.Value(field).Int() }
	if name != "sched_switch" {
		s.to.Wakes(r, number("pid"), true, s.fields.Value("common_flags").Uint()&interrupted != 0)
		return
	}
	x := Switch{Linux: true, From: number("prev_pid"), To: number("next_pid"), FromName: s.fields.Text("prev_comm"), ToName: s.fields.Text("next_comm")}
	switch state := number("prev_state") & sleeps; {
	case state&dead != 0:
		x.State = Over
	case state != 0:
		x.State, x.Why = Waits, cmp.Or(whys[state], "Unknown")
	}
	s.to.Switch(r, &x)
}
