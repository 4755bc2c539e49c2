package etw

// A table finds what belongs to a (provider, id, version) in a few
// nanoseconds: the provider in a short list, the id in pages, the version in a
// list that has one or two entries.
type table[T any] struct {
	providers []*providerTable[T]
}

type providerTable[T any] struct {
	guid  GUID
	pages [256]*[256][]versionEntry[T]
}

type versionEntry[T any] struct {
	version uint8
	value   T
}

// provider returns the part of the table for a provider, or nil.
func (t *table[T]) provider(g GUID) *providerTable[T] {
	for _, p := range t.providers {
		if p.guid == g {
			return p
		}
	}
	return nil
}

// versions returns the versions of an id.
func (p *providerTable[T]) versions(id uint16) []versionEntry[T] {
	if page := p.pages[id>>8]; page != nil {
		return page[id&0xff]
	}
	return nil
}

// find returns the value of exactly k.
func (t *table[T]) find(k Key) (v T, ok bool) {
	p := t.provider(k.Provider)
	if p == nil {
		return v, false
	}
	for _, e := range p.versions(k.ID) {
		if e.version == k.Version {
			return e.value, true
		}
	}
	return v, false
}

// at returns where the value of k is, and makes room for it.
func (t *table[T]) at(k Key) *T {
	p := t.provider(k.Provider)
	if p == nil {
		p = &providerTable[T]{guid: k.Provider}
		t.providers = append(t.providers, p)
	}
	page := p.pages[k.ID>>8]
	if page == nil {
		page = new([256][]versionEntry[T])
		p.pages[k.ID>>8] = page
	}
	list := &page[k.ID&0xff]
	for i := range *list {
		if (*list)[i].version == k.Version {
			return &(*list)[i].value
		}
	}
	*list = append(*list, versionEntry[T]{version: k.Version})
	return &(*list)[len(*list)-1].value
}
