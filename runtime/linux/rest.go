package linux

import (
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/linux/internal/perf"
)

// maxHold bounds how long records wait for the end of a rest before them.
const maxHold = int64(time.Second)

// rests follows the threads that are off their processors.
//
// A rest is told with the time of its begin, as other recorders do, though its length is
// known at its end. So that records are in the order of time, it has its place in the queue
// from the begin on. One that lasts is told in parts, of which each begins where the one
// before it ended; so a recording that is cut short has what was until then.
type rests struct {
	open map[int32]int      // numbers in the queue, by thread
	dead map[int32]struct{} // threads that have ended, and go off for the last time
}

func newRests() rests { return rests{make(map[int32]int), make(map[int32]struct{})} }

// off takes that a thread goes off its processor.
func (t *translator) off(r *perf.Record) {
	if _, dead := t.rests.dead[r.TID]; dead || r.TID <= 0 { // the latter is that of a processor without work
		return
	}
	t.meet(r)
	t.contradicted(r.TID)
	t.last = max(t.last, r.Time)
	t.hit(r.Stack)
	t.rests.open[r.TID] = t.queue.push(queued{desc: contextSwitch, time: t.last, pid: r.PID, tid: r.TID, processor: r.Processor, stack: r.Stack, open: true})
}

// back takes that a thread runs again.
func (t *translator) back(r *perf.Record) {
	n, ok := t.rests.open[r.TID]
	if !ok {
		return
	}
	t.last = max(t.last, r.Time)
	delete(t.rests.open, r.TID)
	e := t.queue.of(n)
	e.open, e.rest = false, t.last-e.time
	t.stats.Switches++
}

// contradicted takes that a thread runs, though nothing told that it is back: since when
// is not known.
func (t *translator) contradicted(tid int32) {
	if n, ok := t.rests.open[tid]; ok {
		delete(t.rests.open, tid)
		*t.queue.of(n) = queued{}
	}
}

// next sets r to the next record, and reports whether there is one.
func (t *translator) next(r *etw.Record, clock *etw.Clock) bool {
	for !t.queue.next(r, clock) {
		q := &t.queue
		if q.at == len(q.list) {
			return false
		}
		e := q.list[q.at]
		lasted := t.last - e.time
		if lasted < maxHold && !t.ended {
			return false
		}
		part := &q.list[q.at]
		part.open, part.rest = false, lasted
		if t.ended {
			delete(t.rests.open, e.tid)
			if lasted == 0 {
				part.desc = nil
			}
			continue
		}
		e.time = t.last
		t.rests.open[e.tid] = q.push(e)
	}
	return true
}
