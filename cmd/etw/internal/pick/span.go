package pick

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A TimeSpan is when the records of a trace were logged, and whether any were in the
// time and of the processes and threads that were asked for.
type TimeSpan struct {
	First, Last time.Duration
	ended       time.Duration // the last of those that are not of the rundown
	rundown     time.Duration // when it began, where there is one
	hasRundown  bool
	any         bool // there are records
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
	switch {
	case r.Provider != rundown.Provider.Desc.GUID:
		s.ended = max(s.ended, elapsed)
	case !s.hasRundown:
		s.hasRundown, s.rundown = true, elapsed
	}
	if !s.any {
		s.any, s.First, s.Last = true, elapsed, elapsed
	}
	s.First, s.Last = min(s.First, elapsed), max(s.Last, elapsed)
	s.inProcesses = s.inProcesses || asked.Has(r.ProcessID)
	s.inThreads = s.inThreads || h.Threads.Has(r.ThreadID)
	s.inTime = s.inTime || h.InTime(r, elapsed)
}

// Within returns how long the part of the session is that was asked for.
func (s *TimeSpan) Within(h *filter.Header, start etw.FileTime) time.Duration {
	from, to, _ := s.Part(h, start)
	return to - from
}

// Part returns the part of the session that was asked for, and reports whether that is said. The
// session starts with its clock and ends with its last event: the rundown is written when it is
// over, and only when that begins counts.
func (s *TimeSpan) Part(h *filter.Header, start etw.FileTime) (from, to time.Duration, isSaid bool) {
	to = max(s.ended, s.rundown)
	if h.From != nil {
		from = max(from, h.From.Since(start))
	}
	if h.To != nil {
		to = min(to, h.To.Since(start))
	}
	return from, max(from, to), h.From != nil || h.To != nil
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
