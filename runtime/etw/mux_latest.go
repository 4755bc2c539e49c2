package etw

import "math"

// A latest has when each clock was seen last, in each file.
type latest struct {
	*mark        // of the last record
	before *mark // of the record before, if it was of another: two sources that take turns are common
	all    map[markKey]*mark
	aside  GUID // of the provider that does not count
}

// A mark is the latest time of a clock in a file.
type mark struct {
	clock *Clock
	file  string
	ticks int64
}

type markKey struct {
	Clock
	file string
}

// maxMarks is more than the files that anybody reads at once.
const maxMarks = 1 << 14

// isOf reports whether a mark, which may be nil, is that of a record.
func (k *mark) isOf(r *Record) bool { return k != nil && r.Clock == k.clock && r.File == k.file }

// turn goes over to the clock and the file of a record.
func (l *latest) turn(r *Record) {
	if l.before, l.mark = l.mark, l.before; !l.isOf(r) {
		l.mark = l.of(r)
	}
	if r.Provider != l.aside {
		l.ticks = max(l.ticks, r.Timestamp)
	}
}

// of returns the mark of a record.
func (l *latest) of(r *Record) *mark {
	k := markKey{file: r.File}
	if r.Clock != nil {
		k.Clock = *r.Clock
	}
	m := l.all[k]
	if m == nil {
		m = &mark{ticks: math.MinInt64}
		if l.all == nil {
			l.all = make(map[markKey]*mark)
		}
		if len(l.all) < maxMarks {
			l.all[k] = m
		}
	}
	m.clock, m.file = r.Clock, r.File
	return m
}

// Aside has [Mux.Latest] pass over the records of a provider that tells of the state at the end of
// a session, such as the names of all code, which may take seconds.
func (m *Mux) Aside(provider GUID) { m.latest.aside = provider }

// Latest returns the latest time of the records of a clock in a file that were dispatched, whether
// anything handles them or not, and reports whether there were any. Whatever began there and did not
// end lasts until then at least.
func (m *Mux) Latest(c *Clock, file string) (ticks int64, ok bool) {
	if c == nil {
		return 0, false
	}
	k := m.latest.all[markKey{*c, file}]
	if k == nil || k.ticks == math.MinInt64 {
		return 0, false
	}
	return k.ticks, true
}
