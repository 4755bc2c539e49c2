// Package switches tells when threads go off their processors and come back, as the kernels of
// Windows and of Linux say it, and recorders of Linux.
package switches

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/universal/tracepoints"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Listener is told of switches. Numbers of threads are those of the kernel: on Linux a
// recorder in a namespace has others.
type Listener struct {
	// Any reports whether somebody wants to know yet.
	Any func() bool
	// Goes is of a thread that goes off its processor. It waits for something, or is ready.
	// The process is -1 where that is not told. The call stack is where it stops on Linux, and
	// nobody's on Windows.
	Goes func(r *etw.Record, process, thread, number int64, waits bool)
	// Wakes is of one that is ready from now on.
	Wakes func(r *etw.Record, number int64)
	// Comes is of one that has a processor. The call stack is where it had stopped on Windows.
	Comes func(r *etw.Record, number int64, stack bool)
	// Rests is of the thread of the record, which goes for a time. It may only lack a processor.
	Rests func(r *etw.Record, d time.Duration)
}

// A source tells the listener. Of a trace in which a recorder of Linux and the scheduler itself
// tell of the same rests, the first one counts.
type source struct {
	to               *Listener
	rests, scheduler bool
	fields           dyn.Reader
}

// Watch registers handlers at a mux that tell the listener.
func Watch(mux *etw.Mux, to *Listener) {
	s := &source{to: to}
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyThreadCSwitch) error {
		if to.Any() {
			to.Goes(r, -1, int64(e.OldThreadID), int64(e.OldThreadID), !isReady(e.OldThreadState))
			to.Comes(r, int64(e.NewThreadID), true)
		}
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyThreadReadyThread) error {
		if to.Any() {
			to.Wakes(r, int64(e.TThreadID))
		}
		return nil
	})
	mux.HandleRest(s.take)
}

func isReady(s kernel.ThreadState) bool {
	return s == kernel.ThreadStateReady || s == kernel.ThreadStateStandby || s == kernel.ThreadStateRunning || s == kernel.ThreadStateDeferredReady
}

// maxRest bounds how long a thread rests.
const maxRest = 24 * time.Hour

// take takes a record of a recorder of Linux, or of the scheduler of its kernel.
func (s *source) take(r *etw.Record) error {
	switch {
	case r.Schema == nil || !s.to.Any():
	case r.ProviderName == "sched" && !s.rests:
		s.scheduled(r)
	case r.ProviderName == "Universal.Events" && r.Schema.Name == "cswitch" && !s.scheduler:
		if ns, n := binary.Uvarint(r.Payload); n > 0 && ns <= uint64(maxRest) {
			s.rests = true
			s.to.Rests(r, time.Duration(ns))
		}
	}
	return nil
}

// sleeps are the states of a thread of Linux in which it does not run on.
const sleeps = 0xff

func (s *source) scheduled(r *etw.Record) {
	name := r.Schema.Name
	if name != "sched_switch" && name != "sched_waking" && name != "sched_wakeup" {
		return
	}
	known := tracepoints.Of(r)
	if known == nil || !s.fields.ReadAs(known.Events[0], r) {
		return
	}
	number := func(field string) int64 { return s.fields.Value(field).Int() }
	if name != "sched_switch" {
		s.to.Wakes(r, number("pid"))
		return
	}
	s.scheduler = true // the record is of the thread that goes
	s.to.Goes(r, r.ProcessID, r.ThreadID, number("prev_pid"), number("prev_state")&sleeps != 0)
	s.to.Comes(r, number("next_pid"), false)
}
