package flow

import (
	"slices"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Events are the choice of an [EventsConfig]. One is for all streams of a receiver: a
// pattern may match in one of them alone.
type Events struct {
	include, exclude []filter.Event
	matched          Matched
}

// NewEvents returns the choice of a configuration, or nil for everything.
func NewEvents(c EventsConfig) *Events {
	if len(c.Include)+len(c.Exclude) == 0 {
		return nil
	}
	e := &Events{matched: Matched{Place: "events", Texts: slices.Concat(c.Include, c.Exclude)}}
	for _, text := range c.Include {
		e.include = append(e.include, filter.ParseEvent(text))
	}
	for _, text := range c.Exclude {
		e.exclude = append(e.exclude, filter.ParseEvent(text))
	}
	return e
}

// chosen reports whether an event is one of those that are wanted.
func (e *Events) chosen(rec *etw.Record, event *etw.EventInfo) bool {
	taken := len(e.include) == 0
	for i, p := range e.include {
		if p.Match(rec, event) {
			e.matched.Mark(i)
			taken = true
		}
	}
	for i, p := range e.exclude {
		if p.Match(rec, event) {
			e.matched.Mark(len(e.include) + i)
			taken = false
		}
	}
	return taken
}

// Matched returns which patterns have matched, or nil if there are none.
func (e *Events) Matched() *Matched {
	if e == nil {
		return nil
	}
	return &e.matched
}
