package filter

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/windows"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Header chooses records by their headers. The zero Header takes all.
type Header struct {
	Providers []Provider
	Events    []Event
	IDs       Numbers
	Processes Numbers
	Threads   Numbers
	// Level is the least important level that is taken. 0 stands for all; events
	// of level 0 are always taken.
	Level etw.Level
	// Keywords takes the events that have one of them. 0 stands for all.
	Keywords uint64
	From, To *Moment // from the one up to, but not including, the other
	// Lives are those of Processes that are meant of numbers which several had in turn.
	Lives map[int64][]Life
	// Partial says that the trace has no more of others than what tells of Processes and Threads.
	Partial bool
	// During has the times of threads of which records are taken, if it is not nil.
	During During
	// Caused are the names of the activities that threads worked for in these times, if that is
	// how they were chosen.
	Caused []Glob
	// Taken is called for each record of During, and for how long the session had lasted,
	// before anybody else has it; or nil.
	Taken func(r *etw.Record, elapsed time.Duration)

	named []verdictOfNames // by the index of the event
}

// A verdictOfNames says whether the names of an event match.
type verdictOfNames uint8

const (
	namesUnknown verdictOfNames = iota
	namesMatch
	namesDiffer
)

// A Provider is a pattern of a name, or a GUID.
type Provider struct {
	Name Glob
	GUID etw.GUID // if Name is empty
}

// ParseProvider reads a provider: the alias of a built-in one, a GUID, or a
// pattern of names. It is an error if text looks like a GUID and is invalid.
func ParseProvider(text string) (Provider, error) {
	for _, b := range builtin.Providers {
		if strings.EqualFold(text, b.Alias) {
			return Provider{GUID: b.Desc.GUID}, nil
		}
	}
	for _, s := range dotnet.Sources() {
		if s.Package != "" && strings.EqualFold(text, s.Package) {
			return Provider{Name: Glob(s.Name)}, nil // EventPipe has names alone
		}
	}
	if g, err := etw.ParseGUID(text); err == nil {
		return Provider{GUID: g}, nil
	}
	if strings.HasPrefix(text, "{") {
		return Provider{}, fmt.Errorf("%q is not a GUID such as {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}", text)
	}
	return Provider{Name: Glob(text)}, nil
}

// Match reports whether p is the provider of that name and GUID.
func (p *Provider) Match(name string, guid etw.GUID) bool {
	if p.Name == "" {
		return p.GUID == guid
	}
	return p.Name.Match(name)
}

// A Verdict is the decision of a filter on a record.
type Verdict uint8

// The verdicts.
const (
	Skip Verdict = iota
	Take
	Late // at or after the end that was asked for
)

// All reports whether h lets all records through.
func (h *Header) All() bool {
	return len(h.Providers)+len(h.Events) == 0 && h.Level == 0 && h.Keywords == 0 && h.IDs == nil &&
		h.From == nil && h.To == nil && h.Processes == nil && h.Lives == nil && h.Threads == nil && h.During == nil
}

// Judge says whether to take the record r, which is an event e and was logged the
// given time after the start of the session.
func (h *Header) Judge(r *etw.Record, e *etw.EventInfo, elapsed time.Duration) Verdict {
	Complete(r, e)
	if h.To != nil && h.To.compare(r, elapsed) >= 0 {
		return Late
	}
	if len(h.Providers)+len(h.Events) > 0 && !h.Named(r, e) {
		return Skip
	}
	if h.From != nil && h.From.compare(r, elapsed) < 0 {
		return Skip
	}
	if h.Level != 0 && r.Level > h.Level || h.Keywords != 0 && keywordsOf(r, e)&h.Keywords == 0 {
		return Skip
	}
	if h.IDs != nil && (r.Kind == etw.KindClassic || !h.IDs.Has(int64(r.ID))) {
		return Skip
	}
	if h.Processes != nil && !h.ofProcess(r) || !h.Threads.Has(r.ThreadID) || h.During != nil && !h.During.Has(Worker{r.ProcessID, r.ThreadID}, elapsed) {
		return Skip
	}
	return Take
}

// A Life is a program that had the number of a process from a time on, up to another, in
// nanoseconds since 1970.
type Life struct {
	Name     string
	From, To int64
}

// ofProcess reports whether a record is about one of the processes.
func (h *Header) ofProcess(r *etw.Record) bool {
	pid := windows.Subject(r)
	return h.Processes.Has(pid) && (h.Lives[pid] == nil || h.Lived(pid, r.Time().UnixNano()))
}

// Lived reports whether a program that is meant had the number of a process at a time, in
// nanoseconds since 1970: any, of a number that one alone had.
func (h *Header) Lived(pid, at int64) bool {
	lives, parted := h.Lives[pid]
	return !parted || slices.ContainsFunc(lives, func(l Life) bool { return l.From <= at && at < l.To })
}

// Program reports whether a process with a number and a name is one of the processes.
func (h *Header) Program(pid int64, name string) bool {
	lives, parted := h.Lives[pid]
	return h.Processes.Has(pid) && (!parted || slices.ContainsFunc(lives, func(l Life) bool { return l.Name == name }))
}

// Complete gives a trace message the level and the keywords that its description has: the
// record has neither.
func Complete(r *etw.Record, e *etw.EventInfo) {
	if r.Kind == etw.KindMessage && e.Desc != nil {
		r.Level, r.Keywords = e.Desc.Level, e.Desc.Keywords
	}
}

// InTime reports whether r, so long after the start of its session, is in the time
// that h lets through.
func (h *Header) InTime(r *etw.Record, elapsed time.Duration) bool { return h.Place(r, elapsed) == 0 }

// Place says where r lies: below 0 before that time, 0 in it, above 0 after it.
func (h *Header) Place(r *etw.Record, elapsed time.Duration) int {
	switch {
	case h.From != nil && h.From.compare(r, elapsed) < 0:
		return -1
	case h.To != nil && h.To.compare(r, elapsed) >= 0:
		return 1
	}
	return 0
}

// keywordsOf returns the keywords of a record. Those of classic events have none, but their
// descriptions may name the flags that turn them on.
func keywordsOf(r *etw.Record, e *etw.EventInfo) uint64 {
	if r.Kind == etw.KindClassic && e.Desc != nil {
		return e.Desc.Keywords
	}
	if r.Schema != nil && r.Schema.Named {
		return r.Keywords &^ etw.SessionKeywords // .NET sets them in all
	}
	return r.Keywords
}

// Named reports whether the names of an event match, and remembers it.
func (h *Header) Named(r *etw.Record, e *etw.EventInfo) bool {
	for e.Index >= len(h.named) {
		h.named = append(h.named, namesUnknown)
	}
	v := &h.named[e.Index]
	if *v == namesUnknown {
		*v = namesDiffer
		if h.matchProvider(r, e) && h.matchEvent(r, e) {
			*v = namesMatch
		}
	}
	return *v == namesMatch
}

func (h *Header) matchProvider(r *etw.Record, e *etw.EventInfo) bool {
	for i := range h.Providers {
		p := &h.Providers[i]
		if e.Desc != nil && e.Desc.Provider != nil && p.Match(e.Desc.Provider.Name, e.Desc.Provider.GUID) {
			return true
		}
		if p.Match(e.Provider, r.Provider) || r.Kind == etw.KindClassic && p.Name != "" && p.Name.Match(e.Task) || p.Name != "" && builtin.IsKernel(r) && p.Name.Match(kernelProvider) {
			return true
		}
	}
	return len(h.Providers) == 0
}

func (h *Header) matchEvent(r *etw.Record, e *etw.EventInfo) bool {
	return len(h.Events) == 0 || slices.ContainsFunc(h.Events, func(p Event) bool { return p.Match(r, e) })
}

// MatchDesc reports whether the names and ids that h asks for may be those of the
// event that d describes.
func (h *Header) MatchDesc(d *etw.EventDesc) bool {
	if d.Provider != nil {
		r := etw.Record{Kind: d.Kind, Provider: d.Key().Provider}
		if !h.matchProvider(&r, &etw.EventInfo{Provider: d.Provider.Name, Desc: d}) {
			return false
		}
	}
	if h.IDs != nil && (d.Kind == etw.KindClassic || !h.IDs.Has(int64(d.ID))) {
		return false
	}
	return len(h.Events) == 0 || slices.ContainsFunc(h.Events, func(p Event) bool { return p.MatchDesc(d) })
}
