package universal

import (
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// maxHold bounds how long records wait for the end of a rest before them, and maxHeld how
// many.
const (
	maxHold = int64(time.Second)
	maxHeld = 1 << 17
)

// rests follows the threads that are off their processors.
//
// A rest is told with the time of its begin, as other recorders do, though its length is
// known at its end. So that records are in the order of time, it has its place in the queue
// from the begin on. One that lasts is told in parts, of which each begins where the one
// before it ended; so a recording that is cut short has the part until then.
type rests struct {
	open map[int32]int      // numbers in the queue, by thread
	dead map[int32]struct{} // threads that have ended, and go off for the last time
}

// off takes that a thread goes off its processor.
func (t *Translator) off(r *perfevent.Record) {
	if _, dead := t.rests.dead[r.TID]; dead || r.TID <= 0 { // the latter is that of a processor without work
		return
	}
	t.meet(r)
	t.contradicted(r.TID)
	t.last = max(t.last, r.Time)
	if t.unwinder.run != nil {
		t.unwinder.run(t, r)
	}
	t.hit(r.Stack)
	t.rests.open[r.TID] = t.queue.push(queued{desc: ContextSwitch, time: t.last, pid: r.PID, tid: r.TID, processor: r.Processor, stack: r.Stack, open: true})
}

// back takes that a thread runs again.
func (t *Translator) back(r *perfevent.Record) {
	n, ok := t.rests.open[r.TID]
	if !ok {
		return
	}
	t.last = max(t.last, r.Time)
	delete(t.rests.open, r.TID)
	e := t.queue.of(n)
	e.open, e.rest = false, t.last-e.time
	t.Stats.Switches++
}

// contradicted takes that a thread runs, though nothing told that it is back: since when
// is not known.
func (t *Translator) contradicted(tid int32) {
	if n, ok := t.rests.open[tid]; ok {
		delete(t.rests.open, tid)
		*t.queue.of(n) = queued{}
	}
}

// Next sets r to the next record, and reports whether there is one.
func (t *Translator) Next(r *etw.Record, clock *etw.Clock) bool {
	for !t.queue.next(r, clock) {
		q := &t.queue
		if q.at == len(q.list) {
			return false
		}
		e := q.list[q.at]
		lasted := t.last - e.time
		if lasted < maxHold && len(q.list)-q.at < maxHeld && !t.Ended {
			return false
		}
		part := &q.list[q.at]
		if part.open, part.rest = false, lasted; lasted == 0 {
			part.desc = nil
		}
		if t.Ended {
			delete(t.rests.open, e.tid)
			continue
		}
		e.time = t.last
		t.rests.open[e.tid] = q.push(e)
	}
	return true
}
