package etw

import "math"

// A latest has when each clock was seen last.
type latest struct {
	clock *Clock
	ticks int64
	other map[Clock]int64 // of the clocks before
	aside GUID            // of the provider that does not count
}

// maxClocks is more than the sessions that anybody reads at once.
const maxClocks = 1 << 12

// turn goes over to the clock of a record.
func (l *latest) turn(r *Record) {
	if l.other == nil {
		l.other = make(map[Clock]int64)
	}
	if l.clock != nil && len(l.other) < maxClocks {
		l.other[*l.clock] = l.ticks
	}
	l.clock, l.ticks = r.Clock, math.MinInt64
	if r.Clock != nil {
		if ticks, ok := l.other[*r.Clock]; ok {
			l.ticks = ticks
		}
	}
	if r.Provider != l.aside {
		l.ticks = max(l.ticks, r.Timestamp)
	}
}

// Aside has [Mux.Latest] pass over the records of a provider that tells of the state at the end of
// a session, such as the names of all code, which may take seconds.
func (m *Mux) Aside(provider GUID) { m.latest.aside = provider }

// Latest returns the latest time of the records of a clock that were dispatched, whether anything
// handles them or not, and reports whether there were any. Whatever began and did not end lasts
// until then at least.
func (m *Mux) Latest(c *Clock) (ticks int64, ok bool) {
	l := &m.latest
	switch {
	case c == nil:
		return 0, false
	case l.clock != nil && *l.clock == *c:
		return l.ticks, l.ticks != math.MinInt64
	}
	ticks, ok = l.other[*c]
	return ticks, ok && ticks != math.MinInt64
}
