package nettrace

import (
	"fmt"
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
	all   bool   // all may go, since point comes next
	point block  // or the end, if there is none
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

// The memory of a run and of a chain besides their events, in bytes.
const (
	runBytes   = 80
	chainBytes = 64
)

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
