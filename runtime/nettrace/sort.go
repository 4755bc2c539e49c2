package nettrace

import (
	"errors"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A sorter merges the events of all capture threads by time.
//
//  1. The events that one thread logged without another in between are a run:
//     a stretch of a block, and the state of the decoder at its start. Runs are
//     in order of time. Queueing an event is moving the end of its run; it is
//     decoded again when its turn comes. So what is held back costs the bytes of
//     its blocks and little else.
//  2. The runs of a thread follow each other in a chain. A run that is older
//     than the end of the chain, which no writer should produce, starts another
//     chain.
//  3. A heap has the chains by the time of their first event, and by the order of
//     the stream where that is equal.
//  4. A sort point promises that nothing later is older than it: what is up to
//     its time may go. At a sequence point and at the end all goes.
type sorter struct {
	limit  int64
	warned bool // the limit was reached and Next said so
	held   int64

	heap   []*chain
	chains map[uint64]*chain // by capture thread
	tail   *run              // that the last event was added to
	in     *heldBlock        // of the block that is being read
	order  uint64            // of the last run
	bound  int64             // events up to this time may go
	all    bool              // all may go
	spent  *chain            // whose first event was delivered and is to be passed
	point  block             // a sequence point that is to be applied
	end    error             // of the stream

	freeRuns   *run
	freeBlocks []*heldBlock
}

// A chain is the runs of a capture thread.
type chain struct {
	thread      uint64
	first, last *run
	newest      int64 // time of the last event
}

// A run stands at its first event that was not yet delivered.
type run struct {
	eventBlock
	until int // where it ends in the block
	order uint64
	in    *heldBlock
	chain *chain
	next  *run
}

// A heldBlock is a copy of a block, to which runs point.
type heldBlock struct {
	buf  []byte
	runs int // plus 1 while the block is being read
}

// errPoint tells that the reader has come to a sequence point.
var errPoint = errors.New("nettrace: sequence point")

func newSorter(limit int64) *sorter {
	return &sorter{limit: limit, chains: make(map[uint64]*chain), bound: -1 << 63}
}

// nextSorted is Next in the order of time.
func (r *Reader) nextSorted(rec *etw.Record) error {
	s := r.sort
	s.pass()
	for {
		if s.held > s.limit && !s.warned && len(s.heap) > 0 {
			s.warned = true
			return ErrSortLimit
		}
		if c := s.due(); c != nil {
			r.deliver(rec, &c.first.eventBlock)
			s.spent = c
			return nil
		}
		if s.all {
			if s.end != nil {
				return s.end
			}
			s.all = false
			r.apply(s.point)
		}
		switch err := r.scan(); {
		case err == errPoint:
			s.all = true
		case err != nil:
			s.all, s.end = true, err
		case r.cur.h.sortPoint && len(s.heap) == 0:
			// Nothing is held back and nothing older can come.
			s.bound = r.cur.h.time
			r.deliver(rec, &r.cur)
			return nil
		default:
			s.add(&r.cur)
		}
	}
}

// due returns the chain with the oldest event if that may go.
func (s *sorter) due() *chain {
	if len(s.heap) == 0 {
		return nil
	}
	c := s.heap[0]
	if s.all || c.first.h.time <= s.bound || s.held > s.limit {
		return c
	}
	return nil
}

// hold copies the data of a block that is about to be read, so that runs may
// point to it.
func (s *sorter) hold(b *eventBlock) {
	if s.in != nil {
		s.release(s.in)
	}
	h := new(heldBlock)
	if n := len(s.freeBlocks); n > 0 {
		h = s.freeBlocks[n-1]
		s.freeBlocks = s.freeBlocks[:n-1]
	}
	h.buf = append(h.buf[:0], b.data...)
	h.runs = 1
	s.held += int64(len(h.buf))
	s.in, s.tail = h, nil
	b.data = h.buf
}

// release gives up one reference to h. A few blocks are kept for reuse.
func (s *sorter) release(h *heldBlock) {
	if h.runs--; h.runs > 0 {
		return
	}
	s.held -= int64(len(h.buf))
	if len(s.freeBlocks) < 16 {
		s.freeBlocks = append(s.freeBlocks, h)
	}
}

// add queues the current event of b.
func (s *sorter) add(b *eventBlock) {
	b.meta = nil // that of an event delivered before
	t := b.h.time
	if b.h.sortPoint && t > s.bound {
		s.bound = t
	}
	if s.tail != nil {
		if c := s.tail.chain; b.h.capture == c.thread && t >= c.newest {
			s.tail.until, c.newest = b.at, t
			return
		}
	}
	n := s.freeRuns
	if n != nil {
		s.freeRuns = n.next
	} else {
		n = new(run)
	}
	s.order++
	*n = run{eventBlock: *b, until: b.at, order: s.order, in: s.in}
	n.meta, n.thread = nil, nil
	n.in.runs++
	s.tail = n

	c := s.chains[b.h.capture]
	if c == nil || c.first != nil && t < c.newest {
		c = &chain{thread: b.h.capture}
		s.chains[c.thread] = c
	}
	n.chain, c.newest = c, t
	if c.first != nil {
		c.last.next = n
		c.last = n
		return
	}
	c.first, c.last = n, n
	s.heap = append(s.heap, c)
	s.up(len(s.heap) - 1)
}

// pass moves past the event that was delivered last. That is not done on
// delivery since the record's origin still refers to it.
func (s *sorter) pass() {
	c := s.spent
	if c == nil {
		return
	}
	s.spent = nil
	n := c.first
	if n.at < n.until {
		n.eventBlock.next() // it was decoded before, so it fits
		s.down()
		return
	}
	if n == s.tail {
		s.tail = nil
	}
	c.first = n.next
	s.release(n.in)
	*n = run{next: s.freeRuns}
	s.freeRuns = n
	if c.first == nil {
		last := len(s.heap) - 1
		s.heap[0] = s.heap[last]
		s.heap[last] = nil
		s.heap = s.heap[:last]
		if len(s.chains) > maxChains && s.chains[c.thread] == c {
			delete(s.chains, c.thread)
		}
	}
	s.down()
}

// maxChains bounds the empty chains that are kept for their threads to return.
const maxChains = 1 << 12

func before(a, b *chain) bool {
	x, y := a.first, b.first
	return x.h.time < y.h.time || x.h.time == y.h.time && x.order < y.order
}

// up restores the heap after an addition at index i.
func (s *sorter) up(i int) {
	h := s.heap
	for i > 0 {
		parent := (i - 1) / 2
		if !before(h[i], h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// down restores the heap after its first chain has changed.
func (s *sorter) down() {
	h := s.heap
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && before(h[child+1], h[child]) {
			child++
		}
		if !before(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
