package threads

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Recorders of Linux tell that a thread goes off its processor, and for how long. They do not tell
// whether it waited or was only ready; all of it counts as waiting. A rest that began before
// the recording, or lasts to its end, is not told. But where a sample of a thread was taken it ran,
// and from there to its next rest.

// record takes a sample.
func (a *Analysis) record(r *etw.Record) error {
	if r.Schema == nil || r.ProviderName != "Universal.Events" || r.ThreadID <= 0 || a.scheduler || r.Schema.Name != "cpu" {
		return nil
	}
	x, _ := a.of(a.machine.HasThread(r.ThreadID, r.ProcessID))
	if x.sampled = when.Of(r); x.met == 0 {
		x.met = x.sampled
	}
	if n, read := binary.Uvarint(r.Payload); read > 0 && n < math.MaxInt32 && a.window.HasRecord(r) {
		x.samples += int64(n)
	}
	return nil
}

// recordRest takes that a thread goes off its processor, and for how long. One that goes
// in the moment in which it came back, from where it had stopped, has not run: our own
// recorder tells a long rest in parts. Rests that overlap, of a damaged trace, count once.
func (a *Analysis) recordRest(r *etw.Record, rested time.Duration) {
	if r.ThreadID <= 0 { // the recorder knows of no thread, or it is idle
		if r.ThreadID < 0 {
			a.strays.Add(a.window.HasRecord(r))
		}
		return
	}
	from := when.Of(r)
	till := from + int64(rested)
	a.at(r)
	x, _ := a.of(a.machine.HasThread(r.ThreadID, r.ProcessID))
	if a.scheduler {
		if a.returns(x, from); x.does == waiting || x.does == ready {
			x.back = till
		}
		return
	}
	a.blurred, a.now = true, max(a.now, till)
	if x.rest >= 0 && from == x.since {
		a.restsOn(x, till)
		return
	}
	x.meets()
	ran := int64(0)
	switch {
	case !x.seen:
		x.first, x.seen = from, true
	case from < x.since:
		a.gaps.Add(a.window.Has(from))
		from, till = x.since, max(till, x.since)
	default:
		a.ran(x, x.since, from)
		ran = x.since
	}
	within := a.window.Has(from)
	if a.switches.Add(within); within {
		x.switches++
	}
	a.waited(&x.waits, from, till)
	x.does, x.since, x.processor = running, till, anywhere
	partFrom, partTo := a.spends(x, waiting, from, till)
	x.longest = max(x.longest, partTo-partFrom)
	x.rest = a.rests(off{thread: x, from: from, ranFrom: ran, readied: till, till: till, waited: true, blurred: true})
	if !a.sumsOnly {
		a.bound.Await(r, x.TID, x.rest)
	}
}

// returns takes that a thread came back, if a recorder told that and it was before a time. A rest that
// is told in parts is not over at the end of one, as the next one begins there.
func (a *Analysis) returns(x *thread, before int64) {
	if x.back == 0 || x.back >= before {
		return
	}
	if !a.partial { // nothing is missing so far
		a.partial, a.gaps, a.gone = true, window.Count{}, nil
	}
	if a.comes(x, x.back) {
		a.off[len(a.off)-1].stack = x.stack
	}
	x.processor = anywhere
}

// meets takes that a thread runs since its first sample.
func (x *thread) meets() {
	if !x.seen && x.met != 0 {
		x.first, x.seen, x.does, x.since = x.met, true, running, x.met
	}
}

// settle has all threads be met that there are samples of, if there are rests at all, and those come
// back that have.
func (a *Analysis) settle() {
	for _, x := range a.order {
		if a.blurred {
			x.meets()
		} else {
			a.returns(x, a.now)
		}
	}
}

// restsOn takes that a rest lasts longer.
func (a *Analysis) restsOn(x *thread, till int64) {
	longer := till - x.since
	if a.onOff != nil {
		a.onOff(x.Thread, x.since, till, till, Waker{})
	}
	a.spends(x, waiting, x.since, till)
	x.since = till
	switch o := a.numberedOff(x.rest); {
	case o != nil:
		if !a.window.Meets(o.from, o.till) {
			a.waited(&x.waits, o.from, till)
		}
		o.readied, o.till = till, till
		from, to := a.window.Clip(o.from, till)
		x.longest = max(x.longest, to-from)
	case x.rests != nil:
		x.rests.ns[unknown] += longer
	}
}
