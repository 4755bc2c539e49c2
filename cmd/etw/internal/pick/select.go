package pick

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Selection holds the flags that choose events. All commands that read the
// events of traces have them.
type Selection struct {
	Providers []string
	Events    []string
	ids       string
	processes []string
	children  bool
	threads   []string
	level     string
	keywords  string
	from, To  string
	Zone      string
	caused    []string // activities for which threads worked
	during    []string // activities that were on
	Wheres    []string
}

// Flags adds the flags to a command.
func (s *Selection) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	short := "p"
	if f.ShorthandLookup(short) != nil { // of a command that has it for processes
		short = ""
	}
	f.StringArrayVarP(&s.Providers, "provider", short, nil, "only events of this provider: `NAME`, pattern such as Microsoft-*, GUID,\nclr, rundown, private, stress, kernel, universal, samples; repeatable")
	f.StringArrayVarP(&s.Events, "event", "e", nil, "only events of this `NAME`, such as GCStart (of any version), GCStart_V2,\nGC/Start, Process/Start, or pattern such as GC*; repeatable")
	f.StringVar(&s.ids, "id", "", "only events with these `IDS`, such as 1,3,10-20; classic events have none")
	s.processFlags(cmd, "only events")
	threadFlag(cmd, &s.threads, "only events")
	f.StringVar(&s.level, "level", "", "only events that are at least this important, or have no `LEVEL`: 1 to 255,\ncritical, error, warning, informational or verbose")
	f.StringVar(&s.keywords, "keywords", "", "only events with one of these keywords: a `MASK` such as 0x8000, or names\nof keywords of the provider, such as GC,Exception")
	s.timeFlags(cmd)
	f.StringArrayVarP(&s.Wheres, "where", "w", nil, "only events with a field such that this `CONDITION` holds: field op value,\nwith =, !=, <, <=, >, >=, ~ (matches), !~; repeatable")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"provider": CompleteProviders,
		"event":    CompleteEvents,
		"keywords": CompleteKeywords,
		"where":    CompleteFields,
		"level":    cobra.FixedCompletions(LevelNames, cobra.ShellCompDirectiveNoFileComp),
		"id":       cobra.NoFileCompletions,
	})
}

// timeFlags defines the flags that choose events by their time.
func (s *Selection) timeFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.from, "from", "", "only events from this `TIME` on: 2024-05-01T10:00:00Z, 10:00:05 of that\nday, or milliseconds or a duration such as 1.5s since the session's start")
	f.StringVar(&s.To, "to", "", "only events before this `TIME`")
	f.StringArrayVar(&s.caused, "activity", nil, "only work of threads for an activity of this `NAME`: see etw requests; repeatable")
	f.StringArrayVar(&s.during, "during", nil, "only events of processes while an activity of this `NAME` was on, or of a machine\nfrom a mark of this NAME up to the next one; repeatable")
	ZoneFlag(cmd, &s.Zone, "here and in text")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"from": cobra.NoFileCompletions, "to": cobra.NoFileCompletions, "activity": cobra.NoFileCompletions, "during": cobra.NoFileCompletions,
	})
}

// LevelNames are the standard levels that a filter can ask for.
var LevelNames = []string{"critical", "error", "warning", "informational", "verbose"}

// A Selector chooses events, and remembers the events seen for the case that it chooses
// none.
type Selector struct {
	Decoder  *etw.Decoder
	Known    []*etw.Provider // of manifests
	Header   filter.Header
	patterns []filter.Glob // of names of processes that are to be looked for
	children bool          // of processes are to be looked for, too
	threads  []filter.Glob // of names of threads that are to be looked for
	sought   *sought       // activities that are to be looked for, or nil
	Wheres   []*filter.Where
	OfFile   func(*Shot) // sets what Operations do, so that conditions may ask for it; or nil
	Zone     *time.Location
	inZone   func(*Selector) error // reads times again when the zone of the machine is known
	met      func() error          // says which processes and threads there are; see CheckMet
	Given    bool                  // there is a filter
	Seen     []seenEvent
	fitting  int64 // events that pass the filters of headers
	chosen   int64
	shot     Shot
	Decoding bool // every event is decoded, also without a condition on fields
	wants    etw.Wants
}

// Wants returns which kinds of records Take has a use for, and whoever besides names; nil
// stands for all. Until an event is chosen all are wanted, since ReportNone counts them.
func (s *Selector) Wants(besides func(*etw.Record, *etw.EventInfo) bool) *etw.Wants {
	h := &s.Header
	if len(h.Providers)+len(h.Events) == 0 || h.To != nil { // any event may be the first that is late
		return nil
	}
	s.wants.Kind = func(r *etw.Record) bool {
		e := s.Decoder.Event(r)
		return s.chosen == 0 || h.Named(r, e) || besides(r, e)
	}
	return &s.wants
}

// A seenEvent counts the events of one kind.
type seenEvent struct {
	*etw.EventInfo
	Count int64
}

// Selector reads the flags.
func (s *Selection) Selector(manifests []*etw.Provider) (*Selector, error) {
	sel := &Selector{Decoder: builtin.NewDecoder(manifests...), Known: manifests, Decoding: true}
	h := &sel.Header
	sel.Given = len(s.Providers)+len(s.Events)+len(s.Wheres)+len(s.processes)+len(s.threads)+len(s.during)+len(s.caused) > 0 || s.ids+s.level+s.keywords+s.from+s.To != ""
	for _, text := range s.Providers {
		p, err := filter.ParseProvider(text)
		if err != nil {
			return nil, cli.Usagef("--provider: %w", err)
		}
		h.Providers = append(h.Providers, p)
		if strings.EqualFold(text, "samples") { // of whoever took them
			h.Providers = append(h.Providers, filter.Provider{Name: "Microsoft-DotNETCore-SampleProfiler"})
		}
	}
	for _, text := range s.Events {
		h.Events = append(h.Events, filter.ParseEvent(text))
	}
	for _, text := range s.Wheres {
		w, err := filter.ParseWhere(text)
		if err != nil {
			return nil, cli.Usagef("--where: %w", err)
		}
		sel.Wheres = append(sel.Wheres, w)
	}
	var err error
	if h.Level, err = ParseLevel(s.level); err != nil {
		return nil, cli.Usagef("--level: %w", err)
	}
	if s.keywords != "" {
		if h.Keywords, err = ParseKeywords(strings.Split(s.keywords, ","), keywordProviders(h, manifests)); err != nil {
			return nil, cli.Usagef("--keywords: %w", err)
		}
		if h.Keywords == 0 {
			return nil, cli.Usagef("--keywords %s: no event has one of no keywords; leave the flag out to have all events", s.keywords)
		}
	}
	if s.ids != "" {
		if h.IDs, err = filter.ParseNumbers(s.ids, math.MaxUint16); err != nil {
			return nil, cli.Usagef("--id: %w", err)
		}
	}
	if err := s.named(sel); err != nil {
		return nil, err
	}
	return sel, s.window(sel)
}

// Of returns the selector for traces, with the manifests that the command line names, and
// more descriptions.
func (s *Selection) Of(cmd *cobra.Command, in *Input, paths []string, more ...*etw.Provider) (*Selector, error) {
	known, err := ReadManifests(cmd, in.Manifests)
	if err != nil {
		return nil, err
	}
	sel, err := s.Selector(append(known, more...))
	if err != nil {
		return nil, err
	}
	sel.met = func() error { return CheckMet(cmd, in, paths, &sel.Header) }
	return sel, sel.findProcesses(cmd, in, paths)
}

// named reads the flags of things that have numbers and names.
func (s *Selection) named(sel *Selector) error {
	var err error
	if sel.Header.Processes, sel.patterns, err = ParseNamed("process", s.processes); err != nil {
		return err
	}
	if sel.children = s.children; s.children && len(s.processes) == 0 {
		return cli.Usagef("--children: of which process? --process says it")
	}
	sel.Header.Threads, sel.threads, err = ParseNamed("tid", s.threads)
	return err
}

// window reads the flags of times.
func (s *Selection) window(sel *Selector) error {
	var err error
	if sel.Zone, err = ZoneOf(s.Zone, nil); err != nil {
		return err
	}
	if strings.EqualFold(s.Zone, zoneOfMachine) {
		sel.inZone = s.moments
	}
	if sel.sought, err = s.seek(); err != nil {
		return err
	}
	return s.moments(sel)
}

// moments reads the flags of times, in the zone of the selector.
func (s *Selection) moments(sel *Selector) error {
	h := &sel.Header
	for _, m := range []struct {
		flag, text string
		into       **filter.Moment
	}{{"from", s.from, &h.From}, {"to", s.To, &h.To}} {
		if m.text == "" {
			continue
		}
		at, err := filter.ParseMoment(m.text, sel.Zone)
		if err != nil {
			return cli.Usagef("--%s: %w", m.flag, err)
		}
		*m.into = &at
	}
	if h.From.NotBefore(h.To) {
		return cli.Usagef("--from %s is not before --to %s", s.from, s.To)
	}
	return nil
}

// keywordProviders returns the providers whose keywords are meant.
func keywordProviders(h *filter.Header, manifests []*etw.Provider) []*etw.Provider {
	var list []*etw.Provider
	for _, p := range append(BuiltinProviders(), manifests...) {
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

// isNamed returns a function that says whether a filter names a provider.
func isNamed(h *filter.Header) func(name string, guid etw.GUID) bool {
	return func(name string, guid etw.GUID) bool {
		return slices.ContainsFunc(h.Providers, func(p filter.Provider) bool { return p.Match(name, guid) })
	}
}

// BuiltinProviders returns the providers that are known without a manifest.
//
//go:noinline
func BuiltinProviders() []*etw.Provider {
	return each.Of(builtin.Providers, func(b builtin.Provider) *etw.Provider { return b.Provider })
}

// ParseLevel reads a level. "" is 0, which stands for all.
func ParseLevel(text string) (etw.Level, error) {
	if text == "" {
		return 0, nil
	}
	level, ok := etw.ParseLevel(text)
	switch {
	case !ok:
		return 0, fmt.Errorf("%q is neither a number up to 255 nor one of %s", text, strings.Join(LevelNames, ", "))
	case level == 0:
		return 0, fmt.Errorf("%s is the level of events that pass any filter; leave the flag out to have all events", text)
	}
	return level, nil
}

// A Shot is one event with everything that is known of it.
type Shot struct {
	*etw.Record
	Elapsed time.Duration
	Event   *etw.EventInfo
	Values  etw.Described // nil if there is no description, or it was not decoded
	Err     error         // why not all is in values
	Rest    []byte        // of the payload, that is not in values
	Process string        // "" if it is not known
	Thread  string
	Path    string        // of the file that it is about, "" if it is about none or that is not known
	Took    time.Duration // that long the operation was, or -1
}

// EventOpcode and task are those that the event has or, where the record has none, as in
// EventPipe's, those of its description.
func (s *Shot) EventOpcode() etw.Opcode {
	if d := s.Event.Desc; s.Opcode == 0 && d != nil && s.Kind == etw.KindManifest {
		return d.Opcode
	}
	return s.Opcode
}

// EventTask returns the task of the event.
func (s *Shot) EventTask() uint16 {
	if d := s.Event.Desc; s.Task == 0 && d != nil && s.Kind == etw.KindManifest {
		return d.Task
	}
	return s.Task
}

// Take returns the event of a record, nil if a filter is against it, and errStop if one is
// against all that follow, too.
func (s *Selector) Take(rec *etw.Record, elapsed time.Duration) (*Shot, error) {
	e := s.Decoder.Event(rec)
	filter.Complete(rec, e)
	if s.Given {
		for e.Index >= len(s.Seen) {
			s.Seen = append(s.Seen, seenEvent{EventInfo: e})
		}
		s.Seen[e.Index].EventInfo = e
		s.Seen[e.Index].Count++
		switch s.Header.Judge(rec, e, elapsed) {
		case filter.Skip:
			return nil, nil
		case filter.Late:
			return nil, ErrStop
		}
		s.fitting++
	}
	h := &s.shot
	h.Record, h.Elapsed, h.Event = rec, elapsed, e
	h.Values, h.Err, h.Rest = nil, nil, nil
	if s.Decoding || len(s.Wheres) > 0 {
		h.Values, h.Err = s.Decoder.Decode(rec)
		h.Rest = s.Decoder.Rest()
	}
	for _, w := range s.Wheres {
		if h.Values == nil || !w.Match(h.Values) && !s.isOfFile(w, h) {
			return nil, nil
		}
	}
	if s.chosen++; s.chosen == 1 {
		s.wants.Turn++
	}
	return h, nil
}

// Text returns the flags that choose events, as far as they are given.
func (s *Selection) Text() string {
	parts := slices.Concat(s.Providers, s.Events, s.processes, s.threads, s.Wheres)
	for _, p := range []string{s.ids, s.level, s.keywords, s.from, s.To} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", []any{s.Providers, s.Events, s.processes, s.Wheres, s.ids, s.threads, s.level, s.keywords, s.from, s.To})
}
