package pick

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A TimeSpan is when the records of a trace were logged, and whether any were in the
// time and of the processes and threads that were asked for.
type TimeSpan struct {
	First, Last time.Duration
	recordings  []*recording
	recording   *recording // that the last record is of
	any         bool       // there are records
	bounded     bool
	from, to    time.Duration // the times that records can have, if bounded
	seen, wild  int           // records, and those of other times
	low, high   time.Duration // of these
	inTime      bool
	inProcesses bool
	inThreads   bool
}

// Bound leaves out the times that records cannot have: those of damaged ones. Where many have such
// times, it is the bounds that are damaged.
func (s *TimeSpan) Bound(from, to time.Duration, known bool) {
	s.from, s.to, s.bounded = from, to, known
}

// fewWild is how many records of impossible times there may be among however few.
const fewWild = 20

// See takes a record.
func (s *TimeSpan) See(r *etw.Record, elapsed time.Duration, h *filter.Header, asked filter.Numbers) {
	if s.seen++; s.bounded && (elapsed < s.from || elapsed > s.to) {
		s.wild++
		s.low, s.high = min(s.low, elapsed), max(s.high, elapsed)
		if s.wild < fewWild || s.wild < s.seen/100 {
			return
		}
		s.bounded, s.First, s.Last = false, min(s.First, s.low), max(s.Last, s.high)
	}
	s.record(r, elapsed)
	if !s.any {
		s.any, s.First, s.Last = true, elapsed, elapsed
	}
	s.First, s.Last = min(s.First, elapsed), max(s.Last, elapsed)
	s.inProcesses = s.inProcesses || asked.Has(r.ProcessID)
	s.inThreads = s.inThreads || h.Threads.Has(r.ThreadID)
	s.inTime = s.inTime || h.InTime(r, elapsed)
}

// Cut returns the span of records of all times for a header that chooses some: those of the
// session, which began at start, are taken to lie densely.
func (s TimeSpan) Cut(h *filter.Header, start etw.FileTime) TimeSpan {
	s.inTime = (h.From == nil || h.From.Since(start) <= s.Last) && (h.To == nil || h.To.Since(start) > s.First)
	return s
}

// WhyNone returns why the trace has nothing of a scope, or "".
func (s *TimeSpan) WhyNone(o *Scope) string {
	times := &o.now
	switch {
	case !s.any:
		return ""
	case !s.inTime && times.from != "" && times.To != "":
		return fmt.Sprintf("no event is from --from %s to --to %s: those of the trace are from %s to %s", times.from, times.To, msAt(s.First), msAt(s.Last))
	case !s.inTime && times.from != "":
		return fmt.Sprintf("no event is from --from %s on: the last of the trace is at %s", times.from, msAt(s.Last))
	case !s.inTime:
		return fmt.Sprintf("no event is before --to %s: the first of the trace is at %s", times.To, msAt(s.First))
	case !s.inProcesses:
		return fmt.Sprintf("no event is of --process %s; etw processes lists those of a trace", Listed(times.processes))
	case !s.inThreads:
		return fmt.Sprintf("no event is of --tid %s; etw stat --by thread lists those of a trace", Listed(times.threads))
	}
	return ""
}

// msAt returns a point in time for people.
func msAt(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}
