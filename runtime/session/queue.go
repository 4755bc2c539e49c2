package session

import (
	"sync"
	"time"
)

// A chunk is the events that a callback hands over: a buffer of the session, or some events.
type chunk struct {
	data   []byte
	events int // or 0 for a buffer
}

// A queue is between the thread that Windows calls back on and the reader. One side
// puts, the other takes.
type queue struct {
	policy WhenFull
	// done is closed when the reader has given up.
	done <-chan struct{}

	arrived, room chan struct{} // each with room for one signal

	mu    sync.Mutex
	items []chunk
	first int // of items
	bytes int
	quiet int // bytes that the reader was not told of
	limit int
	spare [][]byte // to use again
	kept  int      // bytes of spare
	ended bool     // nothing more will be put

	droppedEvents, droppedBuffers int64
}

func newQueue(limit int, policy WhenFull, done <-chan struct{}) *queue {
	return &queue{policy: policy, limit: limit, done: done, arrived: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// memory returns a slice of length 0 with room for n bytes.
func (q *queue) memory(n int) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := len(q.spare) - 1; i >= 0; i-- {
		if p := q.spare[i]; cap(p) >= n {
			last := len(q.spare) - 1
			q.spare[i], q.spare[last] = q.spare[last], nil
			q.spare = q.spare[:last]
			q.kept -= cap(p)
			return p[:0]
		}
	}
	return make([]byte, 0, n)
}

// recycle takes back the memory of a chunk.
func (q *queue) recycle(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keep(p)
}

// keep is recycle for those who hold mu. As much is kept as the queue may hold.
func (q *queue) keep(p []byte) {
	if q.kept+cap(p) <= q.limit {
		q.spare = append(q.spare, p)
		q.kept += cap(p)
	}
}

// put adds a chunk, and tells the reader when there is enough to be worth it: waking a
// thread can cost more than all its events. Who puts less must see to it that the reader
// is told in time. If the queue is full, put waits or drops the chunk. It reports false if
// the reader has given up.
func (q *queue) put(c chunk, count func([]byte) int) bool {
	for {
		select {
		case <-q.done:
			return false
		default:
		}
		q.mu.Lock()
		full := q.bytes > 0 && q.bytes+len(c.data) > q.limit
		switch {
		case !full:
			enough := q.add(c)
			q.mu.Unlock()
			if enough {
				signal(q.arrived)
			}
			return true
		case q.policy == Drop:
			if c.events == 0 {
				q.droppedBuffers++
				c.events = count(c.data)
			}
			q.droppedEvents += int64(c.events)
			q.keep(c.data)
			q.mu.Unlock()
			signal(q.arrived)
			return true
		}
		q.mu.Unlock()
		signal(q.arrived)
		select {
		case <-q.room:
		case <-q.done:
			return false
		}
	}
}

// tell has the reader take the events.
func (q *queue) tell() {
	q.mu.Lock()
	some := q.quiet > 0
	q.quiet = 0
	q.mu.Unlock()
	if some {
		signal(q.arrived)
	}
}

// add appends c, and reports whether the reader must be told. The caller holds mu.
func (q *queue) add(c chunk) (enough bool) {
	if q.first > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.first:])
		clear(q.items[n:])
		q.items, q.first = q.items[:n], 0
	}
	q.items = append(q.items, c)
	q.bytes += len(c.data)
	if q.quiet += len(c.data); q.quiet < batchSize {
		return false
	}
	q.quiet = 0
	return true
}

// relax has the queue take so many bytes more: the rest of a session that was stopped.
func (q *queue) relax(bytes int) {
	q.mu.Lock()
	q.limit += bytes
	q.mu.Unlock()
	signal(q.room)
}

// end says that nothing more will be put.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	signal(q.arrived)
}

// The result of take.
type taken int

const (
	takenChunk taken = iota
	takenNothing
	takenEnd
)

// take returns the next chunk. It waits for one, up to a time if that is not 0.
func (q *queue) take(patience time.Duration) (chunk, taken) {
	var late <-chan time.Time
	for {
		q.mu.Lock()
		if q.first < len(q.items) {
			c := q.items[q.first]
			q.items[q.first] = chunk{}
			if q.first++; q.first == len(q.items) {
				q.items, q.first = q.items[:0], 0
			}
			q.bytes -= len(c.data)
			q.mu.Unlock()
			signal(q.room)
			return c, takenChunk
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return chunk{}, takenEnd
		}
		if patience > 0 && late == nil {
			late = time.After(patience)
		}
		select {
		case <-q.arrived:
		case <-late:
			return chunk{}, takenNothing
		case <-q.done:
			return chunk{}, takenEnd
		}
	}
}

// dropped returns how many events and buffers were dropped.
func (q *queue) dropped() (events, buffers int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.droppedEvents, q.droppedBuffers
}
