package threads

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Record takes a record that no handler does: recorders of Linux tell, in events
// without a fixed number, that a thread runs again and how long it had not. It is for
// [etw.Mux.HandleRest].
//
// They do not tell whether it waited or was only ready; all of it counts as waiting.
// What was before the recording began does not count.
func (a *Analysis) Record(r *etw.Record) error {
	if r.Schema == nil || r.Schema.Name != "cswitch" || r.ProviderName != "Universal.Events" || r.ThreadID <= 0 {
		return nil
	}
	rested, n := binary.Uvarint(r.Payload)
	if n <= 0 {
		return nil
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
		x.sums[running] += from - x.since
		ran = x.since
	}
	x.does, x.since = running, at
	x.sums[waiting] += at - from
	x.longest = max(x.longest, at-from)
	a.off = append(a.off, off{thread: x, from: from, ranFrom: ran, readied: at, till: at, waited: true, blurred: true})
	a.bound.Await(r, x.TID, int32(len(a.off)-1))
	return nil
}
