package gc

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/suspend"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// suspendBegin opens a suspension on a thread. Several threads can have one open,
// since it is announced before its thread owns the lock that only one can have.
func (s *state) suspendBegin(r *etw.Record, now int64, reason clr.GCSuspendEEReason) {
	thread := r.ThreadID
	s.seen, s.over = true, 0 // if there was a rundown, another session follows
	switch reason {
	case clr.GCSuspendEEReasonSuspendForGC:
		s.cpu.worker(&s.cpu.collectors, thread)
	case clr.GCSuspendEEReasonSuspendForGCPrep:
		s.cpu.worker(&s.cpu.background, thread)
	}
	if i := s.openOf(r); i >= 0 {
		s.drop(i)
	}
	if len(s.open) == maxOpen {
		s.drop(0)
	}
	n := len(s.open)
	if n < cap(s.open) { // take back the memory of one that is over
		s.open = s.open[:n+1]
		s.open[n] = suspension{gcs: s.open[n].gcs[:0]}
	} else {
		s.open = append(s.open, suspension{})
	}
	p := &s.open[n]
	p.thread, p.lost, p.reason, p.begin = thread, r.Lost, reason, now
}

// suspendReady notes that all threads stand still.
func (s *state) suspendReady(r *etw.Record, now int64) {
	if i := s.openOf(r); i >= 0 && !s.open[i].isReady {
		s.open[i].ready, s.open[i].isReady = now, true
	}
}

// stands returns since when all threads stand still.
func (p *suspension) stands() int64 {
	if p.isReady {
		return p.ready
	}
	return p.begin
}

// restartBegin notes that threads run again, the first of them before restartEnd.
func (s *state) restartBegin(r *etw.Record, now int64) {
	if i := s.openOf(r); i >= 0 {
		s.open[i].release = now
	}
}

// restartEnd closes a suspension, and divides it among its collections. It returns when
// the suspension began, and whether it was for collections.
func (s *state) restartEnd(r *etw.Record, now int64) (begin int64, collects bool) {
	s.seen = true
	i := s.openOf(r)
	if i < 0 {
		if s.window.Has(now) {
			s.lostBegins++
		}
		return 0, false
	}
	p := &s.open[i]
	begin, collects = p.begin, suspend.ForGC(p.reason)
	s.count(&s.byReason[min(int(p.reason), reasons-1)], p, now)
	if collects {
		s.stood += cmp.Or(p.release, now) - p.stands()
		if s.divide(p, now) {
			s.lastEnd, s.hasLast = now, true
		}
		if s.window.Meets(p.begin, now) {
			from, to := s.window.Clip(p.begin, now)
			if !s.hasPause {
				s.hasPause, s.firstPause = true, from
			}
			s.pauseEnd = to
		}
	}
	s.remove(i)
	return begin, collects
}

// count adds the part of a suspension in the window to a total.
func (s *state) count(t *reasonTotal, p *suspension, now int64) {
	if !s.window.Meets(p.begin, now) {
		return
	}
	took := s.within(p.begin, now)
	t.count++
	t.ticks += took
	t.max = max(t.max, took)
	if p.isReady {
		t.suspend += s.within(p.begin, p.ready)
	}
	if p.release != 0 {
		t.restart += s.within(p.release, now)
	}
}

// divide gives each collection that began in p the time up to the begin of the
// next one, and the first one also the time before it. The time until all threads
// stand still is divided in the same way: it is all of the first one's, unless
// another one began before. A suspension in which none began is a pause of the
// background collection if it is for one; else it is of no collection, and divide
// reports false.
func (s *state) divide(p *suspension, now int64) bool {
	if len(p.gcs) == 0 {
		b := s.bgc
		if p.reason != clr.GCSuspendEEReasonSuspendForGCPrep || b == nil {
			s.count(&s.withoutGC, p, now)
			return false
		}
		b.fin, b.hasFinal, b.goneOn = s.within(p.begin, now), true, now
		b.pause += b.fin
		if !p.isReady {
			b.suspend = -1
		} else if b.suspend >= 0 {
			b.suspend += s.within(p.begin, p.ready)
		}
		return true
	}
	from := p.begin
	for i, c := range p.gcs {
		to := now
		if i+1 < len(p.gcs) {
			to = p.gcs[i+1].begin
		}
		c.first = s.within(from, to)
		c.pause += c.first
		c.released, c.goneOn = true, to
		switch {
		case p.isReady:
			c.suspend = s.within(from, max(from, min(p.ready, to)))
		case i > 0:
			c.suspend = 0
		}
		from = to
	}
	return true
}

// openOf returns the index of the suspension that is open on the thread of a record, or -1. If events of
// the thread were lost since, its end may be among them: it is given up.
func (s *state) openOf(r *etw.Record) int {
	for i := range s.open {
		switch p := &s.open[i]; {
		case p.thread != r.ThreadID:
		case p.lost != r.Lost:
			s.drop(i)
			return -1
		default:
			return i
		}
	}
	return -1
}

// drop gives up suspension i, whose end was lost. A collection that began in it has no known
// pause.
func (s *state) drop(i int) {
	if s.window.Has(s.open[i].begin) {
		s.lostEnds++
	}
	for _, c := range s.open[i].gcs {
		c.suspended = false
	}
	s.remove(i)
}

// remove takes suspension i out, and keeps its memory behind the last one.
func (s *state) remove(i int) {
	gone := s.open[i]
	clear(gone.gcs)
	copy(s.open[i:], s.open[i+1:])
	s.open[len(s.open)-1] = gone
	s.open = s.open[:len(s.open)-1]
}

// forStart returns the suspension that a collection begins in, which is that of
// its thread, or where another thread of a server GC sends the begin, the last one
// in which all threads stand still; or nil.
func (s *state) forStart(thread int64) *suspension {
	var found *suspension
	for i := range s.open {
		p := &s.open[i]
		switch {
		case p.reason != clr.GCSuspendEEReasonSuspendForGC:
		case p.thread == thread:
			return p
		case p.isReady && (found == nil || p.ready >= found.ready):
			found = p
		}
	}
	return found
}
