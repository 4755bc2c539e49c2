package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A selection holds the flags that choose events. All commands that read the
// events of traces have them.
type selection struct {
	providers []string
	events    []string
	ids       string
	processes []string
	threads   string
	level     string
	keywords  string
	from, to  string
	zone      string
	during    []string // activities
	wheres    []string
}

func (s *selection) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	short := "p"
	if f.ShorthandLookup(short) != nil { // of a command that has it for processes
		short = ""
	}
	f.StringArrayVarP(&s.providers, "provider", short, nil, "only events of this provider: `NAME`, pattern such as Microsoft-*, GUID,\nclr, rundown, private, stress, kernel, universal, samples; repeatable")
	f.StringArrayVarP(&s.events, "event", "e", nil, "only events of this `NAME`, such as GCStart (of any version), GCStart_V2,\nGC/Start, Process/Start, or pattern such as GC*; repeatable")
	f.StringVar(&s.ids, "id", "", "only events with these `IDS`, such as 1,3,10-20; classic events have none")
	processFlag(cmd, &s.processes, "only events")
	f.StringVar(&s.threads, "tid", "", "only events of these `THREADS`")
	f.StringVar(&s.level, "level", "", "only events that are at least this important, or have no `LEVEL`: 1 to 255,\ncritical, error, warning, informational or verbose")
	f.StringVar(&s.keywords, "keywords", "", "only events with one of these keywords: a `MASK` such as 0x8000, or names\nof keywords of the provider, such as GC,Exception")
	s.timeFlags(cmd)
	f.StringArrayVarP(&s.wheres, "where", "w", nil, "only events with a field such that this `CONDITION` holds: field op value,\nwith =, !=, <, <=, >, >=, ~ (matches), !~; repeatable")
	completions(cmd, map[string]cobra.CompletionFunc{
		"provider": completeProviders,
		"event":    completeEvents,
		"keywords": completeKeywords,
		"where":    completeFields,
		"level":    cobra.FixedCompletions(levelNames, cobra.ShellCompDirectiveNoFileComp),
		"id":       cobra.NoFileCompletions, "tid": cobra.NoFileCompletions,
	})
}

// timeFlags defines the flags that choose events by their time.
func (s *selection) timeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.from, "from", "", "only events from this `TIME` on: 2024-05-01T10:00:00Z, 10:00:05 of that\nday, or milliseconds or a duration such as 1.5s since the session's start")
	f.StringVar(&s.to, "to", "", "only events before this `TIME`")
	f.StringArrayVar(&s.during, "activity", nil, "only events of a process while an activity of this `NAME` was on in it, such\nas a request: a pattern of what etw requests shows as task or name; repeatable")
	f.StringVar(&s.zone, "zone", "UTC", "`ZONE` of times without one, here and in text: UTC, local or a name such\nas Europe/Berlin")
	completions(cmd, map[string]cobra.CompletionFunc{
		"zone": cobra.FixedCompletions([]string{"UTC", "local"}, cobra.ShellCompDirectiveNoFileComp),
		"from": cobra.NoFileCompletions, "to": cobra.NoFileCompletions, "activity": cobra.NoFileCompletions,
	})
}

// levelNames are the standard levels that a filter can ask for.
var levelNames = []string{"critical", "error", "warning", "informational", "verbose"}

// A selector chooses events, and remembers what it saw for the case that it
// chooses none.
type selector struct {
	decoder  *etw.Decoder
	known    []*etw.Provider // of manifests
	header   filter.Header
	patterns []filter.Glob // of names of processes that are to be looked for
	during   []filter.Glob // of names of activities that are to be looked for
	wheres   []*filter.Where
	zone     *time.Location
	given    bool // there is a filter
	seen     []seenEvent
	fitting  int64 // events that pass the filters of headers
	chosen   int64
	shot     shot
	decoding bool // every event is decoded, also without a condition on fields
}

// A seenEvent counts the events of one kind.
type seenEvent struct {
	*etw.EventInfo
	count int64
}

// selector reads the flags.
func (s *selection) selector(manifests []*etw.Provider) (*selector, error) {
	sel := &selector{decoder: builtin.NewDecoder(manifests...), known: manifests, decoding: true}
	h := &sel.header
	sel.given = len(s.providers)+len(s.events)+len(s.wheres)+len(s.processes)+len(s.during) > 0 || s.ids+s.threads+s.level+s.keywords+s.from+s.to != ""
	for _, text := range s.providers {
		p, err := filter.ParseProvider(text)
		if err != nil {
			return nil, usagef("--provider: %w", err)
		}
		h.Providers = append(h.Providers, p)
	}
	for _, text := range s.events {
		h.Events = append(h.Events, filter.ParseEvent(text))
	}
	for _, text := range s.wheres {
		w, err := filter.ParseWhere(text)
		if err != nil {
			return nil, usagef("--where: %w", err)
		}
		sel.wheres = append(sel.wheres, w)
	}
	var err error
	if h.Level, err = parseLevel(s.level); err != nil {
		return nil, usagef("--level: %w", err)
	}
	if s.keywords != "" {
		if h.Keywords, err = parseKeywords(strings.Split(s.keywords, ","), keywordProviders(h, manifests)); err != nil {
			return nil, usagef("--keywords: %w", err)
		}
		if h.Keywords == 0 {
			return nil, usagef("--keywords %s: no event has one of no keywords; leave the flag out to have all events", s.keywords)
		}
	}
	if err := s.numbers(h); err != nil {
		return nil, err
	}
	if h.Processes, sel.patterns, err = parseProcesses(s.processes); err != nil {
		return nil, err
	}
	return sel, s.window(sel)
}

// numbers reads the flags that are ranges of numbers.
func (s *selection) numbers(h *filter.Header) error {
	for _, n := range []struct {
		flag, text string
		most       int64
		into       *filter.Numbers
	}{
		{"id", s.ids, math.MaxUint16, &h.IDs},
		{"tid", s.threads, math.MaxInt64, &h.Threads},
	} {
		if n.text == "" {
			continue
		}
		var err error
		if *n.into, err = filter.ParseNumbers(n.text, n.most); err != nil {
			return usagef("--%s: %w", n.flag, err)
		}
	}
	return nil
}

// window reads the flags of times.
func (s *selection) window(sel *selector) error {
	var err error
	if sel.zone, err = parseZone(s.zone); err != nil {
		return usagef("--zone: %w", err)
	}
	h := &sel.header
	for _, name := range s.during {
		sel.during = append(sel.during, filter.Glob(name))
	}
	for _, m := range []struct {
		flag, text string
		into       **filter.Moment
	}{{"from", s.from, &h.From}, {"to", s.to, &h.To}} {
		if m.text == "" {
			continue
		}
		at, err := filter.ParseMoment(m.text, sel.zone)
		if err != nil {
			return usagef("--%s: %w", m.flag, err)
		}
		*m.into = &at
	}
	if h.From.NotBefore(h.To) {
		return usagef("--from %s is not before --to %s", s.from, s.to)
	}
	return nil
}

// parseZone reads the name of a time zone.
func parseZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "local") {
		return time.Local, nil
	}
	if strings.EqualFold(name, "utc") {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is neither UTC nor local nor the name of a zone such as Europe/Berlin", name)
	}
	return zone, nil
}

// keywordProviders returns the providers whose keywords are meant.
func keywordProviders(h *filter.Header, manifests []*etw.Provider) []*etw.Provider {
	var list []*etw.Provider
	for _, p := range append(builtinProviders(), manifests...) {
		for i := range h.Providers {
			if h.Providers[i].Match(p.Desc.Name, p.Desc.GUID) {
				list = append(list, p)
				break
			}
		}
		if len(h.Providers) == 0 {
			list = append(list, p)
		}
	}
	return append(list, builtin.Sources(isNamed(h), manifests)...)
}

// isNamed returns what says whether a filter names a provider.
func isNamed(h *filter.Header) func(name string, guid etw.GUID) bool {
	return func(name string, guid etw.GUID) bool {
		return slices.ContainsFunc(h.Providers, func(p filter.Provider) bool { return p.Match(name, guid) })
	}
}

func builtinProviders() []*etw.Provider {
	var list []*etw.Provider
	for _, b := range builtin.Providers {
		list = append(list, b.Provider)
	}
	return list
}

// parseLevel reads a level. "" is 0, which stands for all.
func parseLevel(text string) (etw.Level, error) {
	if text == "" {
		return 0, nil
	}
	level, ok := etw.ParseLevel(text)
	switch {
	case !ok:
		return 0, fmt.Errorf("%q is neither a number up to 255 nor one of %s", text, strings.Join(levelNames, ", "))
	case level == 0:
		return 0, fmt.Errorf("%s is the level of events that pass any filter; leave the flag out to have all events", text)
	}
	return level, nil
}

// A shot is one event with everything that is known of it.
type shot struct {
	*etw.Record
	elapsed time.Duration
	event   *etw.EventInfo
	values  etw.Described // nil if there is no description, or it was not decoded
	err     error         // why not all is in values
	rest    []byte        // of the payload, that is not in values
	process string        // "" if it is not known
	thread  string
}

// opcode and task are those that the event has or, where the record has none, as in
// EventPipe's, those of its description.
func (s *shot) opcode() etw.Opcode {
	if d := s.event.Desc; s.Opcode == 0 && d != nil && s.Kind == etw.KindManifest {
		return d.Opcode
	}
	return s.Opcode
}

func (s *shot) task() uint16 {
	if d := s.event.Desc; s.Task == 0 && d != nil && s.Kind == etw.KindManifest {
		return d.Task
	}
	return s.Task
}

// take returns what is known of a record, nil if a filter is against it, and
// errStop if one is against all that follow, too.
func (s *selector) take(rec *etw.Record, elapsed time.Duration) (*shot, error) {
	e := s.decoder.Event(rec)
	if s.given {
		for e.Index >= len(s.seen) {
			s.seen = append(s.seen, seenEvent{EventInfo: e})
		}
		s.seen[e.Index].EventInfo = e
		s.seen[e.Index].count++
		switch s.header.Judge(rec, e, elapsed) {
		case filter.Skip:
			return nil, nil
		case filter.Late:
			return nil, errStop
		}
		s.fitting++
	}
	h := &s.shot
	h.Record, h.elapsed, h.event = rec, elapsed, e
	h.values, h.err, h.rest = nil, nil, nil
	if s.decoding || len(s.wheres) > 0 {
		h.values, h.err = s.decoder.Decode(rec)
		h.rest = s.decoder.Rest()
	}
	for _, w := range s.wheres {
		if h.values == nil || !w.Match(h.values) {
			return nil, nil
		}
	}
	s.chosen++
	return h, nil
}

// text returns the flags that choose events, as far as they are given.
func (s *selection) text() string {
	parts := slices.Concat(s.providers, s.events, s.processes, s.wheres)
	for _, p := range []string{s.ids, s.threads, s.level, s.keywords, s.from, s.to} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", []any{s.providers, s.events, s.processes, s.wheres, s.ids, s.threads, s.level, s.keywords, s.from, s.to})
}
