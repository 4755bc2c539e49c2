package provider

import (
	"bytes"
	"iter"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Control is a session's request to a provider.
type Control struct {
	Code Code
	// Session is the GUID of the session's process or source, as it gave it; it may
	// be zero.
	Session etw.GUID
	// Level, Any and All are those of all sessions taken together: an event that one of
	// them wants passes. Of a CaptureState they are those of the session that asks.
	Level    etw.Level
	Any, All uint64
	// Filter is the rest of the request. It is valid during the call.
	Filter Filter
}

// A Code is the kind of a [Control].
type Code uint32

// The codes.
const (
	Disable      Code = iota // no session wants events any more
	Enable                   // a session has changed what it wants
	CaptureState             // a session wants events that say how things stand
)

// String returns the name of c.
func (c Code) String() string {
	switch c {
	case Disable:
		return "Disable"
	case Enable:
		return "Enable"
	case CaptureState:
		return "CaptureState"
	}
	return "unknown"
}

// A Filter is data that a session gives to a provider, which has to act by it.
type Filter struct {
	Type uint32 // 0 if there is none
	Data []byte
}

// FilterSchematized is the type of filters that are the provider's own.
const FilterSchematized = 0x80000000

// Arguments iterates over the keys and values in the filters that are given to
// EventSources: texts that each end at a NUL.
func (f Filter) Arguments() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		rest := f.Data
		for len(rest) > 0 {
			key, after, found := bytes.Cut(rest, []byte{0})
			value, after, _ := bytes.Cut(after, []byte{0})
			if !found || !yield(string(key), string(value)) {
				return
			}
			rest = after
		}
	}
}

// An enablement is the requests of sessions, in a form that is quick to ask.
type enablement struct {
	level    etw.Level
	any, all uint64
}

// newEnablement returns the meaning of a session's numbers: a level 0 stands for all levels,
// and so does a mask 0 for all keywords, except with classic events.
func newEnablement(level etw.Level, any, all uint64, classic bool) *enablement {
	e := &enablement{level, any, all}
	if level == 0 {
		e.level = 255
	}
	if any == 0 && !classic {
		e.any, e.all = ^uint64(0), 0
	}
	return e
}

// takes reports whether events of a level and of keywords are wanted.
func (e *enablement) takes(level etw.Level, keywords uint64) bool {
	return level <= e.level && (keywords == 0 || keywords&e.any != 0 && keywords&e.all == e.all)
}

// Enabled reports whether any session wants events of a level that have the given
// keywords.
func (p *Provider) Enabled(level etw.Level, keywords uint64) bool {
	e := p.enabled.Load()
	return e != nil && e.takes(level, keywords)
}

// Wants reports whether any session wants the events that d describes.
func (p *Provider) Wants(d *etw.EventDesc) bool {
	e := p.enabled.Load()
	return e != nil && e.takes(d.Level, d.Keywords|p.channelKeyword(d.Channel))
}

// changed carries out a session's request.
func (p *Provider) changed(c Control) {
	switch c.Code {
	case Disable:
		p.enabled.Store(nil)
	case Enable:
		p.enabled.Store(newEnablement(c.Level, c.Any, c.All, p.classic))
	}
	if p.control != nil {
		p.control(p, c)
	}
}
