package gc

import (
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A wait is that of a thread for memory during a background collection. Times are
// ticks; one without an end goes on.
type wait struct {
	thread     int64
	begin, end int64
	over       bool
	reason     private.BGCAllocWaitReason
}

// shortWait is how long a wait, in milliseconds, need not be told.
const shortWait = 200

// maxWaits is how many are listed.
const maxWaits = 10000

func (a *Analysis) handleWaits(mux *etw.Mux) {
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, e *private.BGCAllocWaitBegin) {
		s := &rt.State
		s.seen = true
		if i := s.waitOn(r.ThreadID); i >= 0 { // its end was lost
			s.waits[i] = wait{thread: r.ThreadID, begin: rt.Now, reason: e.Reason}
			return
		}
		if len(s.waits) < maxWaits {
			s.waits = append(s.waits, wait{thread: r.ThreadID, begin: rt.Now, reason: e.Reason})
		}
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, r *etw.Record, _ *private.BGCAllocWaitEnd) {
		s := &rt.State
		i := s.waitOn(r.ThreadID)
		if i < 0 {
			return
		}
		w := &s.waits[i]
		w.end, w.over = rt.Now, true
		if rt.MS(w.end-w.begin) <= shortWait {
			s.waits = append(s.waits[:i], s.waits[i+1:]...)
		}
	})
}

// waitOn returns the index of the wait of a thread that is not over, or -1.
func (s *state) waitOn(thread int64) int {
	for i := len(s.waits) - 1; i >= 0; i-- {
		if w := &s.waits[i]; w.thread == thread && !w.over {
			return i
		}
	}
	return -1
}
