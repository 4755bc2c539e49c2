package windows

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// An Enabling holds the flags that choose the events of a session.
type Enabling struct {
	profiles  []string
	Providers []string
	Rundown   string
	noStacks  bool
	BufferMB  int
	block     bool
}

// The words that --rundown takes beside a mask.
const (
	RundownAuto = "auto"
	RundownNone = "none"
	rundownFull = "full"
)

// Flags adds the flags to a command.
func (e *Enabling) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&e.profiles, "profile", nil, "record the profiles of these `NAMES`, such as gc-verbose")
	f.StringArrayVar(&e.Providers, "providers", nil, "record these, as dotnet-trace takes them:\n`NAME:KEYWORDS:LEVEL:ARGUMENTS`,...; keywords may be names, as in\nclr:gc+exception:verbose; repeatable")
	f.StringVar(&e.Rundown, "rundown", RundownAuto, "the runtime's list of methods at the end, for names in stacks:\n`WHAT` is auto (as profiles need), none, full, or a mask of keywords")
	f.BoolVar(&e.noStacks, "no-stacks", false, "leave call stacks out (.NET 8 and later)")
	f.IntVar(&e.BufferMB, "buffer-mb", eventpipe.DefaultBufferMB, "let the process use up to so many `MB` for events that were not read yet")
	f.BoolVar(&e.block, "block", false, "have the program wait rather than lose events (.NET 11 and later)")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"profile":   pick.CompleteList(func(*cobra.Command, []string) []string { return profileNames() }),
		"providers": cobra.NoFileCompletions,
		"rundown":   cobra.FixedCompletions([]string{RundownAuto, RundownNone, rundownFull}, cobra.ShellCompDirectiveNoFileComp),
		"buffer-mb": cobra.NoFileCompletions,
	})
}

func profileNames() []string {
	return each.Of(eventpipe.Profiles(), func(p eventpipe.Profile) string { return p.Name })
}

// ProfileHelp describes the profiles.
func ProfileHelp() string {
	var b strings.Builder
	for _, p := range eventpipe.Profiles() {
		fmt.Fprintf(&b, "  %-11s %s\n", p.Name, p.Doc)
	}
	return b.String()
}

// given reports whether the command line chooses events.
func (e *Enabling) given() bool { return len(e.profiles)+len(e.Providers) > 0 }

// Config returns the events to record: by the flags, or else the fallback.
func (e *Enabling) Config(fallback ...string) (eventpipe.Config, error) {
	cfg := eventpipe.Config{WithoutStacks: e.noStacks, BufferMB: e.BufferMB, Block: e.block}
	if e.BufferMB <= 0 {
		return cfg, cli.Usagef("--buffer-mb: %d is not a size, from 1 on", e.BufferMB)
	}
	profiles := e.profiles
	if !e.given() {
		profiles = fallback
	}
	for _, name := range profiles {
		p, ok := eventpipe.FindProfile(name)
		if !ok {
			return cfg, cli.Usagef("--profile: %q is not a profile%s; there are %s", name, cli.DidYouMean(name, profileNames()), strings.Join(profileNames(), ", "))
		}
		cfg.Providers = append(cfg.Providers, p.Providers...)
		cfg.Rundown |= p.Rundown
	}
	for _, text := range e.Providers {
		for _, one := range splitProviders(text) {
			p, err := parseEnable(one)
			if err != nil {
				return cfg, cli.Usagef("--providers: %w", err)
			}
			cfg.Providers = append(cfg.Providers, p)
			cfg.Rundown = eventpipe.DefaultRundown
		}
	}
	cfg.Providers = eventpipe.Merge(cfg.Providers)
	return cfg, e.setRundown(&cfg)
}

func (e *Enabling) setRundown(cfg *eventpipe.Config) error {
	switch e.Rundown {
	case RundownAuto:
	case RundownNone:
		cfg.Rundown = 0
	case rundownFull:
		cfg.Rundown = eventpipe.DefaultRundown
	default:
		mask, err := strconv.ParseUint(e.Rundown, 0, 64)
		if err != nil || mask == 0 {
			return cli.Usagef("--rundown %s: it is auto, none, full, or a mask such as 0x10", e.Rundown)
		}
		cfg.Rundown = mask
	}
	return nil
}

// splitProviders splits a list at its commas, but for those in quotes.
func splitProviders(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ',' && !quoted
	})
}

// parseEnable reads NAME:KEYWORDS:LEVEL:ARGUMENTS. A part left out means everything.
func parseEnable(text string) (eventpipe.Provider, error) {
	parts := append(strings.SplitN(strings.TrimSpace(text), ":", 4), "", "", "")
	p := eventpipe.Provider{Name: parts[0], Keywords: ^uint64(0), Level: etw.LevelVerbose, Arguments: parts[3]}
	if p.Name == "" {
		return p, fmt.Errorf("%q has no name of a provider", text)
	}
	var known []*etw.Provider
	for _, b := range builtin.Providers {
		if strings.EqualFold(b.Alias, p.Name) || strings.EqualFold(b.Desc.Name, p.Name) {
			p.Name, known = b.Desc.Name, []*etw.Provider{b.Provider}
		}
	}
	if source := dotnet.Provider(cmp.Or(builtin.Named(p.Name), p.Name)); source != nil {
		p.Name, known = source.Desc.Name, []*etw.Provider{source}
	}
	if parts[1] != "" {
		e, err := parseMask(parts[1], known)
		if err != nil {
			return p, fmt.Errorf("%s: %w", p.Name, err)
		}
		p.Keywords = e.Keywords
		if e.Level != 0 {
			p.Level = e.Level
		}
	}
	if parts[2] != "" {
		level, ok := etw.ParseLevel(parts[2])
		if !ok || level > etw.LevelVerbose {
			return p, fmt.Errorf("%s: %q is not a level from 0 to 5, or one of %s", p.Name, parts[2], strings.Join(pick.LevelNames, ", "))
		}
		p.Level = level
	}
	return p, nil
}

// parseMask reads keywords: hexadecimal, with 0x or without as dotnet-trace has it, or
// names and presets joined by plus signs. There is a level if all of these are presets.
func parseMask(text string, known []*etw.Provider) (etw.Enable, error) {
	if mask, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64); err == nil {
		return etw.Enable{Keywords: mask}, nil
	}
	names := strings.Split(text, "+")
	if len(known) == 0 {
		mask, err := pick.ParseKeywords(names, nil)
		return etw.Enable{Keywords: mask}, err
	}
	e, err := pick.ParseEnable(names, known[0])
	for _, name := range names {
		if _, err := pick.ParseKeywords([]string{name}, known); err == nil {
			e.Level = 0 // a keyword says none, which stands for all
		}
	}
	return e, err
}

// ForEvents returns the providers that log the events which a selection asks for, with
// their keywords and levels.
func ForEvents(sel *pick.Selector) []eventpipe.Provider {
	if len(sel.Header.Events) == 0 && len(sel.Header.Providers) == 0 {
		return nil
	}
	var list []eventpipe.Provider
	for _, p := range append(pick.BuiltinProviders(), sel.Known...) {
		for _, d := range p.Events {
			if d.Kind == etw.KindManifest && sel.Header.MatchDesc(d) {
				e := d.Enable()
				list = append(list, eventpipe.Provider{Name: p.Desc.Name, Keywords: e.Keywords, Level: min(e.Level, etw.LevelVerbose)})
			}
		}
	}
	return eventpipe.Merge(list)
}

// UnknownProviders returns the names of providers that are asked for and described
// nowhere, such as EventSources: all they have is recorded.
func UnknownProviders(sel *pick.Selector, texts []string) []eventpipe.Provider {
	var list []eventpipe.Provider
	for i, name := range texts {
		var one filter.Header
		one.Providers = sel.Header.Providers[i : i+1]
		known := slices.ContainsFunc(append(pick.BuiltinProviders(), sel.Known...), func(p *etw.Provider) bool {
			return one.Providers[0].Match(p.Desc.Name, p.Desc.GUID)
		})
		if !known && !strings.ContainsAny(name, "*?{") {
			list = append(list, eventpipe.Provider{Name: cmp.Or(builtin.Named(name), name), Keywords: ^uint64(0), Level: etw.LevelVerbose})
		}
	}
	return list
}
