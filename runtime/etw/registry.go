package etw

// A Provider is what a generated package knows of a provider.
type Provider struct {
	Desc     *ProviderDesc
	Events   []*EventDesc // sorted by id and version
	Keywords []KeywordDesc
	Levels   []LevelDesc // those of the provider's own
}

// A KeywordDesc names a keyword.
type KeywordDesc struct {
	Name string
	Mask uint64
}

// A LevelDesc names a level.
type LevelDesc struct {
	Name  string
	Value uint8
}

// A Registry finds the description and the type of an event. It is a value, not
// a global: it knows the providers that it was made of.
type Registry struct {
	providers []*Provider
	events    table[registered]
}

type registered struct {
	desc  *EventDesc
	event Event // for Decode, made at its first use
}

// NewRegistry returns a registry of the given providers. Of two events with the
// same provider, id and version the first counts.
func NewRegistry(providers ...*Provider) *Registry {
	g := &Registry{providers: providers}
	for _, p := range providers {
		for _, d := range p.Events {
			if at := g.events.at(d.Key()); at.desc == nil {
				at.desc = d
			}
		}
	}
	return g
}

// Providers returns the providers that the registry was made of.
func (g *Registry) Providers() []*Provider { return g.providers }

// Lookup returns the description of exactly the version k of an event, or nil.
func (g *Registry) Lookup(k Key) *EventDesc {
	e, _ := g.events.find(k)
	return e.desc
}

// Newest returns the description that is best for a version which Lookup does
// not find: the newest that is older, or nil if there is none.
func (g *Registry) Newest(k Key) *EventDesc {
	p := g.events.provider(k.Provider)
	if p == nil {
		return nil
	}
	var best *EventDesc
	for _, e := range p.versions(k.ID) {
		if e.version <= k.Version && (best == nil || e.version > best.Version) {
			best = e.value.desc
		}
	}
	return best
}

// Decode decodes the payload of r into its generated type and returns the event
// and the number of bytes read. The event is nil if the registry does not know
// it. The registry reuses events: one is valid until the next event of the same
// type is decoded. So Decode allocates nothing, and must not be called by
// several goroutines at once.
func (g *Registry) Decode(r *Record) (Event, int, error) {
	if r.Kind != Manifest {
		return nil, 0, nil
	}
	p := g.events.provider(r.Provider)
	if p == nil {
		return nil, 0, nil
	}
	list := p.versions(r.ID)
	for i := range list {
		e := &list[i]
		if e.version != r.Version || e.value.desc.New == nil {
			continue
		}
		if e.value.event == nil {
			e.value.event = e.value.desc.New()
		}
		n, err := e.value.event.DecodePayload(r.Payload, r.PointerSize)
		return e.value.event, n, err
	}
	return nil, 0, nil
}
