package pick

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A recording is when the records of one file were logged, since the start of the first session.
type recording struct {
	file         string
	start, first time.Duration // when its session began, and its first record
	ended        time.Duration // the last record that is not of the rundown
	rundown      time.Duration // when that began, 0 without one
}

// record takes a record of a file.
func (s *TimeSpan) record(r *etw.Record, elapsed time.Duration) {
	x := s.recording
	if x == nil || x.file != r.File {
		i := slices.IndexFunc(s.recordings, func(x *recording) bool { return x.file == r.File })
		if i < 0 {
			i = len(s.recordings)
			s.recordings = append(s.recordings, &recording{file: r.File, start: elapsed - r.Elapsed(), first: elapsed})
		}
		x = s.recordings[i]
		s.recording = x
	}
	switch {
	case r.Provider != rundown.Provider.Desc.GUID:
		x.ended = max(x.ended, elapsed)
	case x.rundown == 0:
		x.rundown = elapsed
	}
}

// span returns from when to when a file recorded: from the start of its session on, or if another file has
// the begin of that, from its own first record on; until its last one, or its rundown, which is written when
// the session is over.
func (x *recording) span(files []*trace.File) (from, to time.Duration) {
	from = x.start
	for _, f := range files {
		if f.Name() == x.file && f.Head().Continued {
			from = x.first
		}
	}
	return from, max(x.ended, x.rundown)
}

// Part returns the part of the sessions of a trace that was asked for, and reports whether any was: from
// when the first of its files recorded until the last did not any more.
func (s *TimeSpan) Part(h *filter.Header, t *trace.Trace) (from, to time.Duration, isSaid bool) {
	for i, x := range s.recordings {
		begin, end := x.span(t.Files())
		if from, to = min(from, begin), max(to, end); i == 0 {
			from = begin
		}
	}
	from, to = inside(h, t, from, to)
	return from, max(from, to), h.From != nil || h.To != nil
}

// inside returns the part of a time that was asked for.
func inside(h *filter.Header, t *trace.Trace, from, to time.Duration) (time.Duration, time.Duration) {
	start := etw.FileTimeOf(t.Start())
	if h.From != nil {
		from = max(from, h.From.Since(start))
	}
	if h.To != nil {
		to = min(to, h.To.Since(start))
	}
	return from, to
}

// Within returns how long the part of the sessions is that was asked for.
func (s *TimeSpan) Within(h *filter.Header, t *trace.Trace) time.Duration {
	from, to, _ := s.Part(h, t)
	return to - from
}

// Recorded returns for how long one process recorded itself in the part of the time that was asked for,
// each moment once, and whether a trace is of one that did.
func (s *TimeSpan) Recorded(h *filter.Header, t *trace.Trace) (sum time.Duration, ok bool) {
	files := t.Files()
	for _, f := range files {
		if head := f.Head(); head.Recorder != trace.DotNet || !bytes.Equal(head.Identity, files[0].Head().Identity) {
			return 0, false
		}
	}
	type span struct{ from, to time.Duration }
	var list []span
	for _, x := range s.recordings {
		from, to := x.span(files)
		from, to = inside(h, t, from, to)
		list = append(list, span{from, to})
	}
	order.Sort(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i, x := range list {
		if i > 0 {
			x.from, x.to = max(x.from, list[i-1].to), max(x.to, list[i-1].to)
			list[i].to = x.to
		}
		sum += max(x.to-x.from, 0)
	}
	return sum, true
}
