package perfdata

import (
	"math"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// rounds put records in the order of time. Perf reads the rings of all processors, one after
// another, and marks the end of each round: records not read by then are later than all that
// was read in the round before.
type rounds struct {
	held  []held
	bytes int   // of the records
	first int64 // the earliest time that is not 0
	last  int64 // the latest time
	until int64 // the latest time in the rounds before
}

// A held is a record that may have others before it.
type held struct {
	perfevent.Record
	event *event
}

// maxHeld bounds the memory of records that wait, where a file has no marks.
const maxHeld = 32 << 20

// heldSize is about the memory of a record besides its bytes.
const heldSize = 256

// add takes a record.
func (r *rounds) add(h held, size int, deliver func(*held)) {
	h.Time = min(max(h.Time, 0), maxTime)
	if h.Time > 0 && (r.first == 0 || h.Time < r.first) {
		r.first = h.Time
	}
	r.last = max(r.last, h.Time)
	r.held = append(r.held, h)
	if r.bytes += size + heldSize; r.bytes > maxHeld {
		r.sort()
		r.deliver(len(r.held)/2+1, deliver)
	}
}

// next takes that a round is over.
func (r *rounds) next(deliver func(*held)) {
	if len(r.held) == 0 {
		return
	}
	r.sort()
	n, _ := slices.BinarySearchFunc(r.held, r.until, func(h held, at int64) int {
		if h.Time <= at {
			return -1
		}
		return 1
	})
	r.until = r.last
	r.deliver(n, deliver)
}

// rest delivers all that is held.
func (r *rounds) rest(deliver func(*held)) {
	r.sort()
	r.deliver(len(r.held), deliver)
}

func (r *rounds) sort() {
	order.ByKey(r.held, func(h *held) uint64 { return uint64(h.Time) }) // which is not below 0
}

func (r *rounds) deliver(n int, deliver func(*held)) {
	for i := range r.held[:n] {
		deliver(&r.held[i])
	}
	left := copy(r.held, r.held[n:])
	clear(r.held[left:])
	r.held = r.held[:left]
	if r.bytes = r.bytes * left / max(n+left, 1); left == 0 {
		r.bytes = 0
	}
}

// maxTime bounds times of records, so that differences fit.
const maxTime = math.MaxInt64 / 4
