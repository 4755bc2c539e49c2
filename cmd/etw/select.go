package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A selection holds the flags that choose events.
type selection struct {
	providers []string
	events    []string
	ids       string
	processes string
	threads   string
	level     string
	keywords  string
	from, to  string
	wheres    []string
	limit     int64
}

func (s *selection) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&s.providers, "provider", "p", nil, "only events of this provider: `name`, pattern such as Microsoft-*, GUID,\nclr, rundown, private or stress; repeatable")
	f.StringArrayVarP(&s.events, "event", "e", nil, "only events of this `name` or task/opcode, or pattern such as GC*;\nrepeatable")
	f.StringVar(&s.ids, "id", "", "only events with these `ids`, such as 1,3,10-20; classic events have none")
	f.StringVar(&s.processes, "pid", "", "only events of these `processes`, such as 4,1000-1999")
	f.StringVar(&s.threads, "tid", "", "only events of these `threads`")
	f.StringVar(&s.level, "level", "", "only events that are at least this important, or have no level: 1 to 255,\ncritical, error, warning, informational or verbose")
	f.StringVar(&s.keywords, "keywords", "", "only events with one of these keywords: a `mask` such as 0x8000, or names\nof keywords of the provider, such as GC,Exception")
	f.StringVar(&s.from, "from", "", "only events from this `time` on: 2024-05-01T10:00:00Z, or milliseconds\nor a duration such as 1.5s since the session's start")
	f.StringVar(&s.to, "to", "", "only events before this `time`")
	f.StringArrayVarP(&s.wheres, "where", "w", nil, "only events with a field such that this `condition` holds: field op value,\nwith =, !=, <, <=, >, >=, ~ (matches), !~; repeatable")
	f.Int64VarP(&s.limit, "limit", "n", 0, "print at most this `many` events")
	_ = cmd.RegisterFlagCompletionFunc("provider", completeProviders)
	_ = cmd.RegisterFlagCompletionFunc("event", completeEvents)
	_ = cmd.RegisterFlagCompletionFunc("keywords", completeKeywords)
	_ = cmd.RegisterFlagCompletionFunc("level", cobra.FixedCompletions(levelNames[1:], cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"id", "pid", "tid", "from", "to", "where", "limit"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

// levelNames are the standard levels.
var levelNames = []string{"", "critical", "error", "warning", "informational", "verbose"}

// parse reads the flags into the filters of d.
func (s *selection) parse(d *dump, manifests []*etw.Provider) error {
	h := &d.header
	for _, text := range s.providers {
		h.Providers = append(h.Providers, filter.ParseProvider(text))
	}
	for _, text := range s.events {
		h.Events = append(h.Events, filter.Glob(text))
	}
	numbers := []struct {
		flag, text string
		most       int64
		into       *filter.Numbers
	}{
		{"id", s.ids, math.MaxUint16, &h.IDs},
		{"pid", s.processes, math.MaxInt64, &h.Processes},
		{"tid", s.threads, math.MaxInt64, &h.Threads},
	}
	for _, n := range numbers {
		if n.text == "" {
			continue
		}
		var err error
		if *n.into, err = filter.ParseNumbers(n.text, n.most); err != nil {
			return usagef("--%s: %w", n.flag, err)
		}
	}
	moments := []struct {
		flag, text string
		into       **filter.Moment
	}{{"from", s.from, &h.From}, {"to", s.to, &h.To}}
	for _, m := range moments {
		if m.text == "" {
			continue
		}
		at, err := filter.ParseMoment(m.text)
		if err != nil {
			return usagef("--%s: %w", m.flag, err)
		}
		*m.into = &at
	}
	for _, text := range s.wheres {
		w, err := filter.ParseWhere(text)
		if err != nil {
			return usagef("--where: %w", err)
		}
		d.wheres = append(d.wheres, w)
	}
	var err error
	if h.Level, err = parseLevel(s.level); err != nil {
		return usagef("--level: %w", err)
	}
	if s.keywords != "" {
		if h.Keywords, err = parseKeywords(strings.Split(s.keywords, ","), s.keywordProviders(h, manifests)); err != nil {
			return usagef("--keywords: %w", err)
		}
	}
	if s.limit < 0 {
		return usagef("--limit: %d is negative", s.limit)
	}
	return nil
}

// keywordProviders returns the providers whose keywords are meant.
func (s *selection) keywordProviders(h *filter.Header, manifests []*etw.Provider) []*etw.Provider {
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
	return list
}

func builtinProviders() []*etw.Provider {
	var list []*etw.Provider
	for _, b := range decode.Builtins {
		list = append(list, b.Provider)
	}
	return list
}

// parseLevel reads a level. "" is 0, which stands for all.
func parseLevel(text string) (uint8, error) {
	for i, name := range levelNames {
		if strings.EqualFold(text, name) || i > 0 && strings.EqualFold(text, "win:"+name) {
			return uint8(i), nil
		}
	}
	if n, err := strconv.ParseUint(text, 10, 8); err == nil {
		return uint8(n), nil
	}
	return 0, fmt.Errorf("%q is neither a number up to 255 nor one of %s", text, strings.Join(levelNames[1:], ", "))
}
