// Package busy adds up the time in which anything was under way, of spans that overlap.
package busy

import (
	"cmp"

	"github.com/etwgen/etwgen/internal/order"
)

// A Union is the time that spans cover. The zero Union is ready for use.
type Union struct {
	spans []span
	limit int // how many spans there may be before those that overlap become one
}

type span struct{ from, to int64 }

// leastSpans are kept without a look whether they overlap.
const leastSpans = 1 << 12

// Add adds a span.
func (u *Union) Add(from, to int64) {
	if to <= from {
		return
	}
	if len(u.spans) >= max(u.limit, leastSpans) {
		u.merge()
		u.limit = 2 * len(u.spans)
	}
	u.spans = append(u.spans, span{from, to})
}

// merge makes one of spans that overlap.
func (u *Union) merge() {
	order.Sort(u.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept := u.spans[:0]
	for _, s := range u.spans {
		if n := len(kept); n > 0 && s.from <= kept[n-1].to {
			kept[n-1].to = max(kept[n-1].to, s.to)
			continue
		}
		kept = append(kept, s)
	}
	u.spans = kept
}

// Total returns the time that the spans cover, each moment once.
func (u *Union) Total() (total int64) {
	u.merge()
	for _, s := range u.spans {
		total += s.to - s.from
	}
	return total
}
