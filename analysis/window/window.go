// Package window chooses the part of the time that the analyses of a [etw.Mux] are of. Use it
// where intervals go over its ends: an analysis that is given the records of all times knows
// when each began, and counts the part within. Events of one moment count if they are within.
package window

import (
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Window is a part of the time. That of nobody who said one is all of it.
type Window struct {
	from, to int64 // nanoseconds since 1970
	chosen   bool
	lacks    Lacks
}

// Lacks says that a trace does not have all that was recorded: Any of it, events of its Begin, as
// they were overwritten, or of its End, as it was cut off. Of these times it may have the events of
// some processors alone.
type Lacks struct {
	Any, Begin, End bool
	// Processors is how many the machine had, if that is known: of one without any event all may be lacking.
	Processors int
}

// Lack says which times the trace lacks. It is to be called when all records have been.
func (w *Window) Lack(l Lacks) { w.lacks = l }

// Lacking returns what the trace lacks, as far as that was said.
func (w *Window) Lacking() Lacks { return w.lacks }

// Of returns the window of the analyses of a mux that follow one.
func Of(mux *etw.Mux) *Window {
	return etw.Shared(mux, func(*etw.Mux) *Window { return new(Window) })
}

// Between makes w the time from one moment on until before another. A zero moment is no bound.
// It is to be called before there are records.
func (w *Window) Between(from, to time.Time) {
	*w = Window{from: math.MinInt64, to: math.MaxInt64, chosen: true}
	if !from.IsZero() {
		w.from = from.UnixNano()
	}
	if !to.IsZero() {
		w.to = to.UnixNano()
	}
}

// Chosen reports whether w is a part of the time.
func (w *Window) Chosen() bool { return w.chosen }

// Has reports whether a moment is in w, in nanoseconds since 1970.
func (w *Window) Has(at int64) bool { return !w.chosen || w.from <= at && at < w.to }

// NotAfter reports whether a moment is not after w.
func (w *Window) NotAfter(at int64) bool { return !w.chosen || at < w.to }

// HasRecord reports whether a record is of w.
func (w *Window) HasRecord(r *etw.Record) bool { return !w.chosen || w.Has(when.Of(r)) }

// Clip returns the part of an interval that lies in w. That of one that does not is empty.
func (w *Window) Clip(from, to int64) (int64, int64) {
	if w.chosen {
		from, to = max(from, w.from), min(to, w.to)
	}
	return from, max(from, to)
}

// Meets reports whether an interval, which may be a moment, has a part in w.
func (w *Window) Meets(from, to int64) bool {
	return w.Has(from) || w.chosen && from < w.from && w.from < to
}

// Ticks is w in the time of a clock.
func (w *Window) Ticks(c *etw.Clock) Window {
	t := *w
	if t.chosen && c != nil {
		t.from, t.to = ticks(c, w.from), ticks(c, w.to)
	}
	return t
}

// ticks returns when a clock shows a moment. Moments that no clock shows are no bounds.
func ticks(c *etw.Clock, at int64) int64 {
	if at == math.MinInt64 || at == math.MaxInt64 {
		return at
	}
	return c.Ticks(c.Start + etw.FileTime((at-when.Origin(&etw.Record{Clock: c}))/100))
}

// A Count is how many events of a kind there are, and how many of them in a window.
type Count struct{ All, Within int }

// Add counts an event.
func (c *Count) Add(within bool) {
	c.All++
	if within {
		c.Within++
	}
}
