package tlg

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Group is the events of one provider, or those of which it is only known that one of several
// providers writes them.
type Group struct {
	Owners []*Provider
	Events []*Event // by name; those of one name in the order of the file
}

// Groups returns all events by their owners: those whose owner is known first, in the order of
// the providers. A provider of which no event is known has a group without events.
func (f *File) Groups() []Group {
	var list []Group
	place := make(map[*Provider]int, len(f.Providers))
	for i, p := range f.Providers {
		place[p] = i
	}
	groups := make(map[string]int)
	owning := make(map[*Provider]bool)
	var key []byte
	for _, e := range f.Events {
		key = key[:0]
		for _, p := range e.Owners {
			key = binary.LittleEndian.AppendUint16(key, uint16(place[p]))
			owning[p] = true
		}
		i, ok := groups[string(key)]
		if !ok {
			i, list = len(list), append(list, Group{Owners: e.Owners})
			groups[string(key)] = i
		}
		list[i].Events = append(list[i].Events, e)
	}
	for _, p := range f.Providers {
		if !owning[p] {
			list = append(list, Group{Owners: []*Provider{p}})
		}
	}
	order.Stable(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(len(a.Owners), len(b.Owners)),
			slices.CompareFunc(a.Owners, b.Owners, func(p, q *Provider) int { return cmp.Compare(place[p], place[q]) }))
	})
	for _, g := range list {
		order.Stable(g.Events, func(a, b *Event) int { return cmp.Compare(a.Desc.Name, b.Desc.Name) })
	}
	return list
}

// ID returns the GUID that records of the provider have: where the file has none, that which is
// made of the name.
func (p *Provider) ID() etw.GUID {
	if p.GUID.IsZero() {
		return etw.NameGUID(p.Name)
	}
	return p.GUID
}
