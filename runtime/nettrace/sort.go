package nettrace

import (
	"fmt"
	"io"
	"math"
)

// A sorter merges the events of all capture threads by time.
//
//  1. The events of a batch that one thread logged without another in between
//     are a run, if they are in order of time, which no writer should break.
//  2. The runs of a thread follow each other in a chain. A run that is older
//     than the end of the chain starts another chain.
//  3. A heap has the chains by the time of their first event, and by the order of
//     the stream where that is equal. From the first chain its first event is due,
//     and all that are older than the next chain's first: a stretch, which is passed
//     on at once. A thread that is alone is one long stretch.
//  4. A sort point promises that nothing later is older than it: what is up to
//     its time may go. At a sequence point and at the end all goes.
type sorter struct {
	limit   int64
	reached bool  // the limit, so that records went early
	held    int64 // bytes: blocks, events and runs

	heap  []head
	order uint64 // of the last run
	bound int64  // events up to this time may go
	all   bool   // all may go
	spent int    // where the stretch ends that was passed on, in the first run

	freeRuns    *run
	freeBatches []*batch
}

// A head is the first event of a chain, in the first of its runs.
type head struct {
	time int64
	run  *run
}

// A chain is the end of the runs of a capture thread.
type chain struct {
	last   *run  // nil if there are none
	newest int64 // time of the last event
}

// A run is the events from index at on, of a batch up to where it ends.
type run struct {
	events []event
	at     int
	time   int64 // of the first
	order  uint64
	batch  *batch
	chain  *chain
	next   *run
}

// What a run, a batch and a chain cost besides their events, in bytes.
const (
	runBytes   = 80
	batchBytes = 320
	chainBytes = 64
)

func newSorter(limit int64) *sorter {
	return &sorter{limit: limit, bound: math.MinInt64}
}

// merge sets the events that come next in the order of time.
func (r *Reader) merge() error {
	s := r.sort
	r.pass()
	for !r.due() {
		if s.all {
			if r.ended {
				r.batch, r.at, r.to = nil, 0, 0
				return io.EOF
			}
			s.all = false
			r.apply(r.point)
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
		limit := min(s.limit, fairLimit+2*r.src.off)
		if s.held <= limit && r.paged <= 2*limit+pagesBesides {
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

// fairLimit is what may be held in any case. More must stand in proportion to the
// bytes of the stream, so that tiny events cannot take many times their size.
const fairLimit = 4 << 20

// pagesBesides is what pages may take besides what is held. How much that is depends on
// what was decoded ahead, on which the order must not depend; only where tiny parts of
// many pages are held it would be more.
const pagesBesides = 8 << 20

// rival returns the time of the first event of all other chains.
func (s *sorter) rival() int64 {
	h := s.heap
	switch len(h) {
	case 1:
		return math.MaxInt64
	case 2:
		return h[1].time
	}
	return min(h[1].time, h[2].time)
}

// hold queues the events of a batch.
func (r *Reader) hold(b *batch) {
	s := r.sort
	b.chunk = r.src.hold()
	s.held += b.memory()
	s.bound = max(s.bound, b.bound)
	for i := 0; i < len(b.contexts); {
		c, t := &b.contexts[i], r.loss.seen[i]
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

// add queues a run.
func (s *sorter) add(t *captureThread, b *batch, at, to int) {
	n := s.freeRuns
	if n != nil {
		s.freeRuns = n.next
	} else {
		n = new(run)
	}
	s.order++
	b.runs++
	s.held += runBytes
	time := b.events[at].time
	c := t.chain
	if c == nil || c.last != nil && time < c.newest {
		c = new(chain)
		t.chain = c
	}
	*n = run{events: b.events[:to], at: at, time: time, order: s.order, batch: b, chain: c}
	c.newest = b.events[to-1].time
	if before := c.last; before != nil {
		before.next, c.last = n, n
		return
	}
	c.last = n
	s.held += chainBytes
	s.heap = append(s.heap, head{time, n})
	s.up(len(s.heap) - 1)
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

// drop takes the first chain, which is empty, from the heap.
func (s *sorter) drop() {
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap[last] = head{}
	s.heap = s.heap[:last]
	s.held -= chainBytes
}

// newBatch returns a batch to decode into.
func (s *sorter) newBatch() *batch {
	n := len(s.freeBatches)
	if n == 0 {
		return new(batch)
	}
	b := s.freeBatches[n-1]
	s.freeBatches = s.freeBatches[:n-1]
	return b
}

// late returns ErrSortLimit if records came out of order because of the limit.
func (s *sorter) late(stats *Stats) error {
	if s == nil || !s.reached || stats.OutOfOrder == 0 {
		return nil
	}
	return fmt.Errorf("nettrace: %w: %d records came late", ErrSortLimit, stats.OutOfOrder)
}

func (x *head) before(y *head) bool {
	return x.time < y.time || x.time == y.time && x.run.order < y.run.order
}

// up restores the heap after an addition at index i.
func (s *sorter) up(i int) {
	h := s.heap
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// down restores the heap after its first chain has changed.
func (s *sorter) down() {
	h := s.heap
	if len(h) == 0 {
		return
	}
	first, i := h[0], 0
	for child := 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) { // without a branch: which one it is cannot be foreseen
			left, right, second := &h[child], &h[child+1], 0
			if right.time < left.time {
				second = 1
			}
			if right.time == left.time && right.run.order < left.run.order {
				second = 1
			}
			child += second
		}
		if !h[child].before(&first) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = first
}
