package parquet

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An identity is the common part of all versions of an event.
type identity struct {
	kind     etw.Kind
	provider etw.GUID
	number   uint16
	source   string // of an event that is identified by its name
	name     string
}

func identityOf(d *etw.EventDesc) identity {
	if d.Named && d.Provider != nil {
		return identity{source: d.Provider.Name, name: withoutVersion(d.Name)}
	}
	k := d.Key()
	return identity{kind: k.Kind, provider: k.Provider, number: k.ID}
}

// A catalogue has the versions of the events that are known.
type catalogue struct {
	events map[identity][]*etw.EventDesc
	has    map[*etw.Provider]bool
	find   func(*etw.Record) *etw.Provider // of a decoder, may be nil
}

func newCatalogue(providers []*etw.Provider, find func(*etw.Record) *etw.Provider) *catalogue {
	c := &catalogue{make(map[identity][]*etw.EventDesc), make(map[*etw.Provider]bool), find}
	for _, p := range providers {
		c.add(p)
	}
	return c
}

func (c *catalogue) add(p *etw.Provider) {
	if p == nil || c.has[p] {
		return
	}
	c.has[p] = true
	for _, d := range p.Events {
		id := identityOf(d)
		c.events[id] = append(c.events[id], d)
	}
}

// versions returns the versions of the event that r is one of, and d describes: the
// newest first.
func (c *catalogue) versions(r *etw.Record, d *etw.EventDesc) []*etw.EventDesc {
	if c.find != nil {
		c.add(c.find(r))
	}
	list := slices.Clone(c.events[identityOf(d)])
	order.Stable(list, func(a, b *etw.EventDesc) int { return cmp.Compare(b.Version, a.Version) })
	if !slices.Contains(list, d) {
		list = append(list, d)
	}
	return list
}
