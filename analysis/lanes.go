package analysis

import (
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A times is from when to when records are.
type times struct {
	origin, first, last int64
	any                 bool
}

func (s *times) see(r *etw.Record) {
	at := when.Of(r)
	if !s.any {
		s.any, s.origin, s.first, s.last = true, when.Origin(r), at, at
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// A spanned is a source that notes from when to when its records are.
type spanned struct {
	etw.Source
	times
}

// Next implements [etw.Source].
func (s *spanned) Next(r *etw.Record) error {
	err := s.Source.Next(r)
	if err == nil {
		s.see(r)
	}
	return err
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
		of, isPart := seen.times, s.wide != s.mux
		if isPart { // there may be no record in all of it
			of = s.times
			of.first, of.last = window.Of(s.wide).Clip(of.first, of.last+1) // the last record is in it
		}
		if of.any {
			res.Timeline = lanes.Result(timeline.Options{Origin: of.origin, From: time.Duration(of.first - of.origin),
				To: time.Duration(of.last - of.origin), Buckets: o.buckets, Cut: isPart})
			for _, text := range res.Timeline.Warnings() {
				if !slices.Contains(res.doubts, text) {
					res.doubts = append(res.doubts, text)
				}
			}
		}
	}
}
