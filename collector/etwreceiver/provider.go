package etwreceiver

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/runtime/session"
)

// parseKeywords reads keywords of a provider; none are 0.
func (p *Provider) parseKeywords(key string, value any, known []*etw.Provider) (uint64, error) {
	text := flow.Text(value)
	if text == "" {
		return 0, nil
	}
	n, err := flow.Keywords(p.Name+p.GUID, text, known)
	if err != nil {
		return 0, fmt.Errorf("%s %q: %w", key, text, err)
	}
	return n, nil
}

// guid returns the GUID of a provider.
func (p *Provider) guid(known []*etw.Provider) (etw.GUID, error) {
	if p.GUID != "" {
		g, err := etw.ParseGUID(p.GUID)
		if err != nil {
			return g, fmt.Errorf("guid %q: %w", p.GUID, err)
		}
		return g, nil
	}
	if p.Kind == "eventsource" {
		return etw.NameGUID(p.Name), nil
	}
	for _, of := range builtin.Providers {
		if strings.EqualFold(of.Desc.Name, p.Name) {
			return of.Desc.GUID, nil
		}
	}
	for _, of := range known {
		if strings.EqualFold(of.Desc.Name, p.Name) {
			return of.Desc.GUID, nil
		}
	}
	if source := dotnet.Provider(p.Name); source != nil && p.Kind != "registered" {
		return source.Desc.GUID, nil
	}
	for g, name := range schema.ProviderNames() {
		if strings.EqualFold(name, p.Name) {
			return g, nil
		}
	}
	if runtime.GOOS != "windows" {
		return etw.GUID{}, fmt.Errorf("the provider %q is not known here, and Windows alone can be asked for others: write its guid, a path of its manifest in manifests:, or kind: eventsource if it is one", p.Name)
	}
	return etw.GUID{}, fmt.Errorf("the provider %q is not known: write its guid, a path of its manifest in manifests:, or kind: eventsource if it is one", p.Name)
}

// provider returns the provider to enable.
func (p *Provider) provider(known []*etw.Provider) (session.Provider, error) {
	g, err := p.guid(known)
	if err != nil {
		return session.Provider{}, err
	}
	level, err := flow.Level(p.Level, 255)
	if err != nil {
		return session.Provider{}, err
	}
	one, err := p.parseKeywords("keywords_any", p.KeywordsAny, known)
	if err != nil {
		return session.Provider{}, err
	}
	every, err := p.parseKeywords("keywords_all", p.KeywordsAll, known)
	if err != nil {
		return session.Provider{}, err
	}
	if one != 0 && every&^one != 0 {
		return session.Provider{}, fmt.Errorf("keywords_all %#x has some that keywords_any %#x lacks: no event would have them", every, one)
	}
	out := session.Provider{Name: p.Name, GUID: g, Enablement: session.Enablement{Level: level, Keywords: one, AllKeywords: every, CaptureState: p.CaptureState}}
	if p.Stacks {
		out.Properties |= session.PropertyStack
	}
	out.Filters.PIDs, out.Filters.Executables = p.Processes.PIDs, p.Processes.Names
	for except, ids := range map[bool][]int{false: p.Events.Include, true: p.Events.Exclude} {
		if len(ids) == 0 {
			continue
		}
		f := &session.IDFilter{Except: except}
		for _, id := range ids {
			f.IDs = append(f.IDs, uint16(id))
		}
		out.Filters.IDs = f
	}
	return out, nil
}

// presets are providers for common questions, and flags of the kernel.
var presets = []struct {
	name     string
	provider Provider
	flags    string
}{
	{"dns", Provider{Name: "Microsoft-Windows-DNS-Client", GUID: "1c95126e-7eea-49a9-a3fe-a378b03ddb4d"}, ""},
	{"dotnet_contention", of(&contention.Needs[0]), ""},
	{"dotnet_exceptions", of(&exceptions.NeedsHandling[0]), ""},
	{"dotnet_gc", of(&gc.Needs[0]), ""},
	{"image", Provider{}, "image_load"},
	{"process", Provider{}, "process"},
}

// of returns the provider that an analysis needs, at the usual level.
func of(n *need.Need) Provider {
	return Provider{Name: n.Provider, KeywordsAny: fmt.Sprintf("%#x", n.Keywords)}
}

// Presets are the names of the presets.
func Presets() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// enabled returns the providers that the session enables of the system and of the kernel.
func (c *Config) enabled(known []*etw.Provider) (list []session.Provider, flags kernel.Flags, err error) {
	names := slices.Clone(c.Kernel.Flags)
	all := slices.Clone(c.Providers)
	for _, p := range presets {
		if !slices.Contains(c.Presets, p.name) {
			continue
		}
		if p.flags != "" {
			names = append(names, p.flags)
			continue
		}
		all = append(all, p.provider)
	}
	if len(names) > 0 {
		if flags, err = kernel.ParseFlags(strings.Join(names, "+")); err != nil {
			return nil, 0, err
		}
	}
	for i := range all {
		p, err := all[i].provider(known)
		if err != nil {
			return nil, 0, err
		}
		at := slices.IndexFunc(list, func(q session.Provider) bool { return q.GUID == p.GUID })
		if at < 0 {
			list = append(list, p)
			continue
		}
		// Enabling a provider again would replace the request before.
		was := &list[at]
		was.Level = max(was.Level, p.Level)
		was.Properties |= p.Properties
		if was.Keywords == 0 || p.Keywords == 0 {
			was.Keywords = 0
		} else {
			was.Keywords |= p.Keywords
		}
	}
	return list, flags, nil
}
