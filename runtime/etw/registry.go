package etw

import (
	"strconv"
	"strings"
)

// A Provider is the description of a provider in a generated package, or a manifest.
type Provider struct {
	Desc     *ProviderDesc
	Events   []*EventDesc // sorted by id and version
	Keywords []KeywordDesc
	Levels   []LevelDesc // the provider's own ones
}

// A KeywordDesc names a keyword.
type KeywordDesc struct {
	Name string
	Mask uint64
}

// A LevelDesc names a level.
type LevelDesc struct {
	Name  string
	Value Level
}

// KeywordNames returns the names of the keywords that a mask has of known, joined by |, and the
// rest of it as a number.
func KeywordNames(known []KeywordDesc, mask uint64) string {
	var names []string
	rest := mask
	for _, k := range known {
		if k.Mask != 0 && mask&k.Mask == k.Mask {
			names = append(names, k.Name)
			rest &^= k.Mask
		}
	}
	if rest != 0 || len(names) == 0 {
		names = append(names, "0x"+strconv.FormatUint(rest, 16))
	}
	return strings.Join(names, "|")
}

// TaskName returns the name of a task that an event of p has, or else its number.
func (p *Provider) TaskName(task uint16) string {
	for _, d := range p.Events {
		if d.Task == task && d.TaskName != "" {
			return d.TaskName
		}
	}
	return numbered("Task", uint64(task))
}

// A Registry finds the description of an event. It is a value, not a global: it
// knows the providers that it was made of. Several goroutines may use it.
type Registry struct {
	providers []*Provider
	names     map[GUID]string
	events    table[*EventDesc]
	named     names[*EventDesc]
}

// NewRegistry returns a registry of the given providers. Of two events with the
// same key the first counts.
func NewRegistry(providers ...*Provider) *Registry {
	g := &Registry{names: make(map[GUID]string)}
	for _, p := range providers {
		g.add(p)
	}
	return g
}

// add makes p one of the providers.
func (g *Registry) add(p *Provider) {
	g.providers = append(g.providers, p)
	if g.names[p.Desc.GUID] == "" {
		g.names[p.Desc.GUID] = p.Desc.Name
	}
	g.named.provider(p.Desc)
	for _, d := range p.Events {
		if d.Named {
			if at := g.named.at(d).version(d.Version); *at == nil {
				*at = d
			}
		}
		for k := range d.keys() {
			if at := g.events.at(k).version(k.Version); *at == nil {
				*at = d
			}
		}
	}
}

// Providers returns the providers that the registry was made of.
func (g *Registry) Providers() []*Provider { return g.providers }

// Name returns the name of a provider, or "" if the registry does not have it.
func (g *Registry) Name(provider GUID) string { return g.names[provider] }

// Lookup returns the description of exactly the version k of an event, or nil.
func (g *Registry) Lookup(k Key) *EventDesc {
	if id := g.events.id(k.Kind, &k.Provider, k.ID); id != nil {
		if d := id.find(k.Version); d != nil {
			return *d
		}
	}
	return nil
}

// Of returns the description of exactly the event that r is, or nil. It is Lookup for
// records whose Schema does not name them. The others are identified by the name and
// the provider's name, too: see [EventDesc.Named].
func (g *Registry) Of(r *Record) *EventDesc {
	if r.Schema == nil || !r.Schema.Named {
		return g.Lookup(r.Key())
	}
	id, _ := g.named.find(r, &g.events, func(id *idEntry[*EventDesc], name string) bool {
		for _, e := range id.versions {
			if e.value.isCalled(name) {
				return true
			}
		}
		return false
	})
	if id != nil {
		if d := id.find(r.Version); d != nil {
			return *d
		}
	}
	return nil
}

// Newest returns the description that is best for a version which Lookup does
// not find: the newest that is older, or nil if there is none.
func (g *Registry) Newest(k Key) *EventDesc {
	id := g.events.id(k.Kind, &k.Provider, k.ID)
	if id == nil {
		return nil
	}
	var best *EventDesc
	for _, e := range id.versions {
		if e.version <= k.Version && (best == nil || e.version > best.Version) {
			best = e.value
		}
	}
	return best
}
