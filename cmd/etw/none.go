package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A timeSpan is when the records of a trace were logged, and whether any were in the
// time and of the processes that were asked for.
type timeSpan struct {
	first, last time.Duration
	ended       time.Duration // the last of those that are not of the rundown
	rundown     time.Duration // when it began, where there is one
	hasRundown  bool
	any         bool // there are records
	inTime      bool
	inProcesses bool
}

// see takes a record.
func (s *timeSpan) see(r *etw.Record, elapsed time.Duration, h *filter.Header, asked filter.Numbers) {
	switch {
	case r.Provider != rundown.Provider.Desc.GUID:
		s.ended = max(s.ended, elapsed)
	case !s.hasRundown:
		s.hasRundown, s.rundown = true, elapsed
	}
	if !s.any {
		s.any, s.first, s.last = true, elapsed, elapsed
	}
	s.first, s.last = min(s.first, elapsed), max(s.last, elapsed)
	s.inProcesses = s.inProcesses || asked.Has(r.ProcessID)
	s.inTime = s.inTime || h.InTime(r, elapsed)
}

// within returns how long the part of the session is that was asked for. The session starts
// with its clock and ends with its last event: the rundown is written when it is over, and
// only when that begins counts.
func (s *timeSpan) within(h *filter.Header, start etw.FileTime) time.Duration {
	from, to := time.Duration(0), max(s.ended, s.rundown)
	if h.From != nil {
		from = max(from, h.From.Since(start))
	}
	if h.To != nil {
		to = min(to, h.To.Since(start))
	}
	return max(to-from, 0)
}

// whyNone returns why what was asked for is not in the trace at all, or "".
func (i *inquiry) whyNone(q *question) string { return i.span.whyNone(&q.scope) }

// whyNone returns why what a scope asks for is not in the trace at all, or "".
func (s *timeSpan) whyNone(o *scope) string {
	times := &o.times
	switch {
	case !s.any:
		return ""
	case !s.inTime && times.from != "" && times.to != "":
		return fmt.Sprintf("no event is from --from %s to --to %s: those of the trace are from %s to %s", times.from, times.to, msAt(s.first), msAt(s.last))
	case !s.inTime && times.from != "":
		return fmt.Sprintf("no event is from --from %s on: the last of the trace is at %s", times.from, msAt(s.last))
	case !s.inTime:
		return fmt.Sprintf("no event is before --to %s: the first of the trace is at %s", times.to, msAt(s.first))
	case !s.inProcesses:
		return fmt.Sprintf("no event is of --process %s; etw processes lists those of a trace", listed(o.processes))
	}
	return ""
}

// msAt returns a point in time for people.
func msAt(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}

// whyNotHere says that the trace has an answer outside of what was asked for, if it does,
// which another pass tells.
func (q *question) whyNotHere(i *inquiry, args []string) string {
	if (i.cut || i.parted || len(i.asked) > 0) && !slices.Contains(args, trace.Stdin) && q.answersAll(i, args) {
		return "the trace has an answer, but not for the time and the processes that were asked for"
	}
	return ""
}

// reportNone says why there is no answer: that is known, or the trace lacks something.
func (q *question) reportNone(cmd *cobra.Command, why string) {
	switch {
	case why != "":
		report(cmd, errors.New(why))
	case q.missing != "":
		report(cmd, errors.New(q.missing))
	default:
		reportNeeds(cmd, q.needs)
	}
}

// answersAll reports whether the traces have an answer for any time and process.
func (q *question) answersAll(i *inquiry, args []string) bool {
	t, _, err := q.in.open(i.cmd, args, false)
	if err != nil {
		return false
	}
	defer t.Close()
	var mux etw.Mux
	again := q.ask(&mux)
	r := &reading{cmd: i.cmd, progress: newProgress(i.cmd.ErrOrStderr(), nil), share: t.Progress, quiet: true}
	if err := r.each(t, mux.Dispatch); err != nil && !errors.Is(err, errReported) {
		return false
	}
	return again.take()
}
