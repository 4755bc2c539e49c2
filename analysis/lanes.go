package analysis

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A spanned is a source that notes from when to when its records are.
type spanned struct {
	etw.Source
	origin, first, last int64
	any                 bool
}

// Next implements [etw.Source].
func (s *spanned) Next(r *etw.Record) error {
	err := s.Source.Next(r)
	if err != nil {
		return err
	}
	at := when.Of(r)
	if !s.any {
		s.any, s.origin, s.first, s.last = true, when.Origin(r), at, at
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
	return nil
}

// Interrupt implements [etw.Interrupter], if the source under it does.
func (s *spanned) Interrupt() {
	if live, ok := s.Source.(etw.Interrupter); ok {
		live.Interrupt()
	}
}

// timeline returns a source to read in place of another, and a function that sets the
// timeline of the result afterwards.
func (s *Set) timeline(source etw.Source, o *options) (etw.Source, func(*Result)) {
	seen := &spanned{Source: source}
	lanes := timeline.New(timeline.Parts{Analyses: append(s.analyses[:len(s.analyses):len(s.analyses)], o.beside...), Samples: o.samples, Named: o.named})
	return seen, func(res *Result) {
		if seen.any {
			res.Timeline = lanes.Result(timeline.Options{Origin: seen.origin, From: time.Duration(seen.first - seen.origin),
				To: time.Duration(seen.last - seen.origin), Buckets: o.buckets})
			res.doubts = append(res.doubts, res.Timeline.Warnings()...)
		}
	}
}
