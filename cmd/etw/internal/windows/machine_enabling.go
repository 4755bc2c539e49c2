package windows

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/runtime/session"
)

// A MachineEnabling holds the flags that choose the events of a session of Windows.
type MachineEnabling struct {
	Providers []string
	Kernel    string
	Stacks    bool
	Rundown   string
	name      string
	BufferMB  int
	Manifests []string
}

func (m *MachineEnabling) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&m.Providers, "providers", nil, "take the events of these providers: `NAME:KEYWORDS:LEVEL:ARGUMENTS`,...; a\nprovider is a name, a GUID, or an EventSource as *NAME; repeatable")
	KernelFlag(cmd, &m.Kernel)
	f.BoolVar(&m.Stacks, "stacks", false, "log call stacks with the providers' events, and with the kernel's samples,\nswitches of threads and committed memory")
	f.StringVar(&m.Rundown, "rundown", RundownAuto, "`WHEN` .NET processes tell their methods, for names in stacks: auto\n(at the end, with providers of the runtime), none, start, end or both")
	f.StringVar(&m.name, "name", "", "the `NAME` of the session; otherwise one that etw sessions knows")
	f.IntVar(&m.BufferMB, "buffer-mb", SessionBufferMB, "let the session use up to so many `MB` for events that are not written yet")
	pick.KnownFlag(cmd, &m.Manifests)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"providers": cobra.NoFileCompletions, "name": cobra.NoFileCompletions, "buffer-mb": cobra.NoFileCompletions,
		"rundown": cobra.FixedCompletions(slices.Sorted(maps.Keys(rundowns)), cobra.ShellCompDirectiveNoFileComp),
	})
}

// virtualAlloc is the event by which memory is committed: etw top --of virtual-memory has its stacks.
var virtualAlloc = etw.Key{Kind: etw.KindClassic, Provider: etw.MustParseGUID("3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"), ID: 98, Version: 2}

// KernelFlag defines the flag for events of the kernel.
func KernelFlag(cmd *cobra.Command, flags *string) {
	cmd.Flags().StringVar(flags, "kernel", "", "take events of the kernel of Windows: `FLAGS` are names as xperf has them,\nsuch as process+image_load, joined by +")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"kernel": cobra.NoFileCompletions})
}

// bufferKB is the size of one buffer: it fits every event. sessionBufferMB is that of all
// together, if the command line does not say.
const (
	bufferKB        = 64
	SessionBufferMB = 64
)

// rundowns are the words that --rundown takes for a machine.
var rundowns = map[string]*session.Rundown{
	RundownAuto: {},
	RundownNone: nil,
	"start":     {When: session.RundownAtStart},
	"end":       {},
	"both":      {When: session.RundownAtBoth},
}

// Config reads the flags.
func (m *MachineEnabling) Config(cmd *cobra.Command) (cfg session.Config, err error) {
	switch {
	case len(m.Providers) == 0 && m.Kernel == "":
		return cfg, &cli.UsageError{Err: errNothing}
	case m.BufferMB <= 0:
		return cfg, cli.Usagef("--buffer-mb: %d is not a size, from 1 on", m.BufferMB)
	}
	rundown, ok := rundowns[m.Rundown]
	if !ok {
		return cfg, cli.Usagef("--rundown %s: it is auto, none, start, end or both", m.Rundown)
	}
	known, err := pick.ReadManifests(cmd, m.Manifests)
	if err != nil {
		return cfg, err
	}
	cfg.Name = m.name
	count := m.BufferMB << 10 / bufferKB
	cfg.Buffers = session.Buffers{KB: bufferKB, Min: max(count/2, 2), Max: max(count, 2)}
	for _, text := range m.Providers {
		for _, one := range splitProviders(text) {
			p, err := m.provider(one, known)
			if err != nil {
				return cfg, cli.Usagef("--providers: %w", err)
			}
			cfg.Providers = append(cfg.Providers, p)
		}
	}
	if m.Kernel != "" {
		flags, err := kernel.ParseFlags(m.Kernel)
		if err != nil {
			return cfg, cli.Usagef("--kernel: %w", err)
		}
		cfg.KernelFlags = uint32(flags)
		if m.Stacks {
			cfg.Stacks = flags.Stacks()
			if flags&kernel.FlagVirtualAlloc != 0 {
				cfg.Stacks = append(cfg.Stacks, virtualAlloc)
			}
		}
	}
	isCLR := func(p session.Provider) bool { return p.GUID == clr.Provider.Desc.GUID }
	if m.Rundown != RundownAuto || slices.ContainsFunc(cfg.Providers, isCLR) {
		cfg.Rundown = rundown
	}
	return cfg, nil
}

// provider reads one of a list.
func (m *MachineEnabling) provider(text string, known []*etw.Provider) (p session.Provider, err error) {
	e, err := parseEnable(text)
	if err != nil {
		return p, err
	}
	p = session.Provider{Name: e.Name, Enablement: session.Enablement{Level: e.Level, Keywords: e.Keywords}}
	if p.GUID, err = providerGUID(e.Name, known); err != nil {
		return p, err
	}
	if m.Stacks {
		p.Properties |= session.PropertyStack
	}
	if e.Arguments != "" {
		p.Filters.Arguments = make(map[string]string)
		for _, pair := range strings.Split(e.Arguments, ";") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				return p, fmt.Errorf("%s: the argument %q is not KEY=VALUE", p.Name, pair)
			}
			p.Filters.Arguments[key] = strings.Trim(value, `"`)
		}
	}
	return p, nil
}

// providerGUID returns the GUID of a provider. That of an EventSource is made of its name.
func providerGUID(name string, known []*etw.Provider) (etw.GUID, error) {
	if source, ok := strings.CutPrefix(name, "*"); ok {
		return etw.NameGUID(source), nil
	}
	if g, err := etw.ParseGUID(name); err == nil {
		return g, nil
	}
	if list := pick.FindProviders(name, known); len(list) == 1 {
		return list[0].Desc.GUID, nil
	}
	if source := dotnet.Provider(name); source != nil {
		return source.Desc.GUID, nil
	}
	for g, other := range schema.ProviderNames() {
		if strings.EqualFold(name, other) {
			return g, nil
		}
	}
	return etw.GUID{}, fmt.Errorf("the provider %q is not known here; give its GUID, its --manifest, or *%[1]s if it is an EventSource", name)
}
