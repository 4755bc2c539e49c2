package system

import (
	"cmp"
	"fmt"

	"github.com/etwgen/etwgen/analysis/internal/inout"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An asking is a request to a disk that has no answer so far.
type asking struct {
	thread *Thread // nil if it is not known
	at     int64
}

// diskAsked takes that a disk is asked. Old answers do not tell which thread asked for it: the
// request does.
func (f *Files) diskAsked(r *etw.Record, _ inout.Kind, irp etw.Pointer, by inout.Issuer) {
	x := asking{at: f.machine.at(r)}
	if r.ThreadID >= 0 {
		x.thread = f.machine.HasThread(r.ThreadID, r.ProcessID)
	} else if by.Told {
		x.thread = f.machine.Asker(r, int64(by.Thread))
	}
	f.asking[irp] = x
}

// An Unanswered is a request to a disk that has no answer in the trace.
type Unanswered struct {
	PID     ID     `json:"pid,omitzero"`
	TID     ID     `json:"tid,omitzero"`
	Process string `json:"process,omitempty"`
	// AtMS is when the disk was asked, and MS how long it had not answered at the end.
	AtMS float64 `json:"atMs"`
	MS   float64 `json:"ms"`
}

// Asker names the thread that asked, as far as the trace tells it.
func (u *Unanswered) Asker() string {
	if u.TID < 0 {
		return "a thread that is not known"
	}
	return fmt.Sprintf("thread %d of %s (%d)", u.TID, cmp.Or(u.Process, unknown), u.PID)
}

// unanswered returns the requests to disks that are not over, the longest first. Where no answer
// is recorded nothing is known of them.
func (f *Files) unanswered() (list []Unanswered) {
	if len(f.queues) == 0 {
		return nil
	}
	w := f.window.Ticks(f.machine.clock)
	for _, x := range f.asking {
		if !w.Meets(x.at, f.machine.last) {
			continue
		}
		from, to := w.Clip(x.at, f.machine.last)
		u := Unanswered{PID: -1, TID: -1, AtMS: f.machine.since(x.at), MS: f.machine.ms(float64(to - from))}
		if x.thread != nil {
			u.PID, u.Process = x.thread.Process.label()
			u.TID = ID(x.thread.TID)
		}
		list = append(list, u)
	}
	order.Sort(list, func(a, b Unanswered) int {
		return cmp.Or(cmp.Compare(b.MS, a.MS), cmp.Compare(a.AtMS, b.AtMS), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID))
	})
	return list
}
