package filter

import (
	"cmp"
	"slices"
	"time"

	"github.com/etwgen/etwgen/internal/order"
)

// During has times of processes: those in which something was on in them.
type During map[int64][]Span

// A Span is a time since the start of a session, from the one up to, and including, the
// other.
type Span struct{ From, To time.Duration }

// Add adds a time of a process. The last one is followed by Sort.
func (d During) Add(process int64, s Span) { d[process] = append(d[process], s) }

// Sort makes one span of those that overlap.
func (d During) Sort() {
	for process, list := range d {
		order.Sort(list, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
		merged := list[:0]
		for _, s := range list {
			if n := len(merged); n > 0 && s.From <= merged[n-1].To {
				merged[n-1].To = max(merged[n-1].To, s.To)
				continue
			}
			merged = append(merged, s)
		}
		d[process] = merged
	}
}

// Has reports whether a time is among those of a process.
func (d During) Has(process int64, at time.Duration) bool {
	list := d[process]
	i, exact := slices.BinarySearchFunc(list, at, func(s Span, at time.Duration) int { return cmp.Compare(s.From, at) })
	return exact || i > 0 && at <= list[i-1].To
}
