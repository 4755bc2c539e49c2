package schema

import (
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Classes returns what a manifest says of classic events, which carry a class and
// an opcode in place of a provider and an id. A task with an eventGUID stands for
// a class: it becomes a provider with this GUID, and its events have the opcode as
// their id.
func Classes(m *manifest.Manifest) []*etw.Provider {
	var list []*etw.Provider
	for _, p := range m.Providers {
		classes := make(map[manifest.GUID]*etw.Provider)
		b := newBuilder(p)
		for _, e := range p.Events {
			if e.Task == nil || e.Task.EventGUID.IsZero() {
				continue
			}
			class := classes[e.Task.EventGUID]
			if class == nil {
				class = &etw.Provider{Desc: &etw.ProviderDesc{Name: e.Task.Name, GUID: etw.GUID(e.Task.EventGUID)}}
				classes[e.Task.EventGUID] = class
				list = append(list, class)
			}
			d := b.event(e)
			d.Provider, d.ID = class.Desc, uint16(d.Opcode)
			class.Events = append(class.Events, d)
		}
	}
	for _, class := range list {
		sortEvents(class)
	}
	return list
}
