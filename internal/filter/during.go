package filter

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// During has times of threads: those in which they worked for something, or in which
// something was on in their process.
type During map[Worker][]Span

// A Worker is a thread of a process, or AnyThread of it.
type Worker struct{ Process, Thread int64 }

// AnyThread stands for all threads of a process.
const AnyThread = math.MinInt64

// Everyone stands for all threads of all processes.
var Everyone = Worker{AnyThread, AnyThread}

// A Span is a time since the start of a session, from the one up to, and including, the
// other.
type Span struct{ From, To time.Duration }

// Add adds a time. The last one is followed by Sort.
func (d During) Add(w Worker, s Span) { d[w] = append(d[w], s) }

// Sort makes one span of those that overlap.
func (d During) Sort() {
	for w, list := range d {
		order.Sort(list, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
		merged := list[:0]
		for _, s := range list {
			if n := len(merged); n > 0 && s.From <= merged[n-1].To {
				merged[n-1].To = max(merged[n-1].To, s.To)
				continue
			}
			merged = append(merged, s)
		}
		d[w] = merged
	}
}

// Narrow has h be of the part of its time that lies in the one span of everyone, in a session that began
// at start, if that is all there is of During, and some time is left.
func (h *Header) Narrow(start time.Time) {
	list := h.During[Everyone]
	if len(h.During) != 1 || len(list) != 1 {
		return
	}
	s := list[0]
	from, to := &Moment{Elapsed: s.From}, (*Moment)(nil)
	if s.To < math.MaxInt64 {
		to = &Moment{Elapsed: s.To + 1}
	}
	since := func(m *Moment) time.Duration {
		m.Resolve(start)
		return m.Since(etw.FileTimeOf(start))
	}
	if h.From != nil && since(h.From) > s.From {
		from = h.From
	}
	if h.To != nil && (to == nil || since(h.To) < to.Elapsed) {
		to = h.To
	}
	if to == nil || since(from) < since(to) {
		h.From, h.To, h.During = from, to, nil
	}
}

// DuringSum returns how long the times of During are together, in nanoseconds, of the processes, the
// threads and the part of the time that are taken of a session that began at start.
func (h *Header) DuringSum(start etw.FileTime) (sum int64) {
	from, to := time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	if h.From != nil {
		from = h.From.Since(start)
	}
	if h.To != nil {
		to = h.To.Since(start)
	}
	for w, list := range h.During {
		if !h.Processes.Has(w.Process) || !h.Threads.Has(w.Thread) {
			continue
		}
		for _, s := range list {
			sum += int64(max(min(s.To, to)-max(s.From, from), 0))
		}
	}
	return sum
}

// Has reports whether a time is among those of a thread, of its process or of everyone.
func (d During) Has(w Worker, at time.Duration) bool {
	return within(d[w], at) || within(d[Worker{w.Process, AnyThread}], at) || within(d[Everyone], at)
}

func within(list []Span, at time.Duration) bool {
	i, exact := slices.BinarySearchFunc(list, at, func(s Span, at time.Duration) int { return cmp.Compare(s.From, at) })
	return exact || i > 0 && at <= list[i-1].To
}
