package filter

import (
	"strings"
	"time"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Header chooses records by their headers. The zero Header takes all.
type Header struct {
	Providers []Provider
	Events    []Glob // of the name of an event, or of its task and opcode
	IDs       Numbers
	Processes Numbers
	Threads   Numbers
	// Level is the least important level that is taken. 0 stands for all; events
	// of level 0 are always taken.
	Level uint8
	// Keywords takes the events that have one of them. 0 stands for all.
	Keywords uint64
	From, To *Moment // from the one up to, but not including, the other

	kinds map[*decode.Event]bool // whether names match
}

// A Provider is a pattern of a name, or a GUID.
type Provider struct {
	Name Glob
	GUID etw.GUID // if Name is empty
}

// ParseProvider reads a provider: the alias of a built-in one, a GUID, or a
// pattern of names.
func ParseProvider(text string) Provider {
	for _, b := range decode.Builtins {
		if strings.EqualFold(text, b.Alias) {
			return Provider{GUID: b.Desc.GUID}
		}
	}
	if g, err := etw.ParseGUID(text); err == nil {
		return Provider{GUID: g}
	}
	return Provider{Name: Glob(text)}
}

// Match reports whether p is the provider of that name and GUID.
func (p *Provider) Match(name string, guid etw.GUID) bool {
	if p.Name == "" {
		return p.GUID == guid
	}
	return p.Name.Match(name)
}

// A Verdict is what a filter says of a record.
type Verdict uint8

// The verdicts.
const (
	Skip Verdict = iota
	Take
	Late // at or after the end that was asked for
)

// Judge says whether to take the record r, which is an event e and was logged the
// given time after the start of the session.
func (h *Header) Judge(r *etw.Record, e *decode.Event, elapsed time.Duration) Verdict {
	if h.To != nil && h.To.compare(r, elapsed) >= 0 {
		return Late
	}
	if h.From != nil && h.From.compare(r, elapsed) < 0 {
		return Skip
	}
	if h.Level != 0 && r.Level > h.Level || h.Keywords != 0 && r.Keywords&h.Keywords == 0 {
		return Skip
	}
	if h.IDs != nil && (r.Kind == etw.Classic || !h.IDs.Has(int64(r.ID))) {
		return Skip
	}
	if !h.Processes.Has(r.ProcessID) || !h.Threads.Has(r.ThreadID) {
		return Skip
	}
	if len(h.Providers)+len(h.Events) > 0 && !h.named(r, e) {
		return Skip
	}
	return Take
}

// named reports whether the names of an event match, and remembers it.
func (h *Header) named(r *etw.Record, e *decode.Event) bool {
	ok, known := h.kinds[e]
	if !known {
		ok = h.matchProvider(r, e) && h.matchEvent(e)
		if h.kinds == nil {
			h.kinds = make(map[*decode.Event]bool)
		}
		h.kinds[e] = ok
	}
	return ok
}

func (h *Header) matchProvider(r *etw.Record, e *decode.Event) bool {
	for i := range h.Providers {
		if h.Providers[i].Match(e.Provider, r.Provider) {
			return true
		}
	}
	return len(h.Providers) == 0
}

func (h *Header) matchEvent(e *decode.Event) bool {
	return len(h.Events) == 0 || matchAny(h.Events, e.Name, e.Task+"/"+e.Opcode)
}
