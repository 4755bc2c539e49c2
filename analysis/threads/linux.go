package threads

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/runtime/etw"
)

// record takes a record that no handler does: recorders of Linux tell, in events
// without a fixed number, that a thread runs again and how long it had not.
//
// They do not tell whether it waited or was only ready; all of it counts as waiting.
// What was before the recording began does not count.
//
// The events sched_switch of the kernel tell what a thread does when it goes, and
// sched_waking or sched_wakeup who ends a wait. Of a trace that has both kinds, the
// first one counts.
func (a *Analysis) record(r *etw.Record) error {
	switch {
	case r.Schema == nil:
	case r.ProviderName == "sched":
		a.recordScheduler(r)
	case r.Schema.Name == "cswitch" && r.ProviderName == "Universal.Events" && r.ThreadID > 0 && !a.scheduler:
		a.recordSwitch(r)
	}
	return nil
}

// recordSwitch takes that a thread runs again.
func (a *Analysis) recordSwitch(r *etw.Record) {
	rested, n := binary.Uvarint(r.Payload)
	if n <= 0 {
		return
	}
	at := a.at(r)
	a.switches++
	a.blurred = true
	x, _ := a.of(a.machine.HasThread(r.ThreadID, r.ProcessID))
	from := when.Origin(r)
	if d := at - from; d > 0 && rested < uint64(d) {
		from = at - int64(rested)
	}
	x.switches++
	x.waits++
	ran := int64(0)
	switch {
	case !x.seen:
		x.first, x.seen = from, true
	case from < x.since:
		from = x.since
	default:
		a.ran(x, x.since, from)
		ran = x.since
	}
	x.does, x.since = running, at
	x.sums[waiting] += at - from
	x.longest = max(x.longest, at-from)
	a.off = append(a.off, off{thread: x, from: from, ranFrom: ran, readied: at, till: at, waited: true, blurred: true})
	a.bound.Await(r, x.TID, int32(len(a.off)-1))
}
