package nettrace

import (
	"io"
	"math"
)

// merge sets the events that come next in the order of time.
func (r *Reader) merge() error {
	s := r.sort
	r.pass()
	for !r.due() {
		if s.all {
			if r.stream.ended {
				r.batch, r.at, r.to = nil, 0, 0
				return io.EOF
			}
			s.all = false
			r.apply(s.point)
		}
		b, err := r.scan(s.newBatch())
		if err != nil { // the end, or a sequence point
			s.freeBatches = append(s.freeBatches, b)
			s.all = true
			continue
		}
		r.hold(b)
	}
	return nil
}

// due sets the next stretch of events, if there are any that may go.
func (r *Reader) due() bool {
	s := r.sort
	if len(s.heap) == 0 {
		return false
	}
	until := s.bound
	if s.all {
		until = math.MaxInt64
	}
	first := &s.heap[0]
	if first.time > until {
		limit := min(s.limit, fairLimit+2*r.stream.src.off)
		if s.held <= limit && r.memory.paged <= 2*limit+pagesBesides {
			return false
		}
		s.reached, until = true, math.MaxInt64
	}
	end := s.rival()
	if until < end {
		end = until + 1
	}
	n := first.run
	events, to := n.events, n.at+1
	for to < len(events) && events[to].time < end {
		to++
	}
	r.batch, r.events, r.at, r.to = n.batch, events, n.at, to
	s.spent = to
	return true
}

// hold queues the events of a batch.
func (r *Reader) hold(b *batch) {
	s := r.sort
	b.chunk = r.stream.src.hold()
	s.held += b.memory()
	s.bound = max(s.bound, b.bound)
	for i := 0; i < len(b.contexts); {
		c, t := &b.contexts[i], r.known.loss.seen[i]
		to := len(b.events)
		for i++; i < len(b.contexts); i++ {
			next := &b.contexts[i]
			if next.capture != c.capture || b.events[next.first].time < b.events[next.first-1].time {
				to = int(next.first)
				break
			}
		}
		s.add(t, b, int(c.first), to)
	}
}

// pass moves past the stretch that was passed on last. That is not done at once
// since records still refer to it.
func (r *Reader) pass() {
	s := r.sort
	if s.spent == 0 {
		return
	}
	first := &s.heap[0]
	n := first.run
	n.at, s.spent = s.spent, 0
	switch {
	case n.at < len(n.events):
		first.time = n.events[n.at].time
	case n.next != nil:
		*first = head{n.next.time, n.next}
		r.leave(n)
	default:
		n.chain.last = nil
		s.drop()
		r.leave(n)
	}
	s.down()
}

// leave gives up a run, and the batch of which it was the last.
func (r *Reader) leave(n *run) {
	s, b := r.sort, n.batch
	*n = run{next: s.freeRuns}
	s.freeRuns = n
	s.held -= runBytes
	if b.runs--; b.runs == 0 {
		s.held -= b.memory()
		r.finish(b)
		s.freeBatches = append(s.freeBatches, b)
	}
}

// fairLimit may be held in any case. More must stand in proportion to the bytes of the
// stream, so that tiny events cannot take many times their size.
const fairLimit = 4 << 20

// pagesBesides is the memory for pages beside that for held events. How much that is depends
// on decoding ahead, on which the order must not depend; only where tiny parts of many pages
// are held it would be more.
const pagesBesides = 8 << 20
