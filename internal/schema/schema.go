// Package schema turns instrumentation manifests into the descriptions by which
// package etw decodes events without generated code.
package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Providers returns what a manifest says of its providers, as generated packages
// would say it. Events that no key leads to are left out.
//
// Classes are what it says of classic events, which carry a class and an opcode in
// place of a provider and an id. A task with an eventGUID stands for a class: it
// becomes a provider with this GUID, and its events have the opcode as their id.
func Providers(m *manifest.Manifest) (providers, classes []*etw.Provider) {
	for _, p := range m.Providers {
		b := newBuilder(p)
		for _, e := range p.Events {
			b.add(e)
		}
		providers = append(providers, b.provider(p))
		classes = append(classes, b.classes...)
	}
	for _, p := range slices.Concat(providers, classes) {
		slices.SortStableFunc(p.Events, func(a, b *etw.EventDesc) int {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
		})
	}
	return providers, classes
}

// A builder makes the descriptions of one provider. What events share in the
// manifest they share in the descriptions too.
type builder struct {
	desc      *etw.ProviderDesc
	maps      map[*manifest.Map]*etw.MapDesc
	templates map[*manifest.Template][]etw.FieldDesc
	events    []*etw.EventDesc
	classes   []*etw.Provider
}

func newBuilder(p *manifest.Provider) *builder {
	return &builder{
		desc:      &etw.ProviderDesc{Name: p.Name, GUID: etw.GUID(p.GUID)},
		maps:      make(map[*manifest.Map]*etw.MapDesc),
		templates: make(map[*manifest.Template][]etw.FieldDesc),
	}
}

// provider returns p with the events that were added.
func (b *builder) provider(p *manifest.Provider) *etw.Provider {
	out := &etw.Provider{Desc: b.desc, Events: b.events}
	for _, k := range p.Keywords {
		out.Keywords = append(out.Keywords, etw.KeywordDesc{Name: k.Name, Mask: k.Mask})
	}
	for _, l := range p.Levels {
		out.Levels = append(out.Levels, etw.LevelDesc{Name: l.Name, Value: l.Value})
	}
	return out
}

// add adds an event to the provider and to the class of its task.
func (b *builder) add(e *manifest.Event) {
	d := b.event(e)
	if e.Undispatched == "" {
		b.events = append(b.events, d)
	}
	if e.Task != nil && !e.Task.EventGUID.IsZero() {
		class := b.class(e.Task)
		classic := *d
		classic.Provider, classic.ID = class.Desc, uint16(d.Opcode)
		class.Events = append(class.Events, &classic)
	}
}

// class returns the class that t stands for.
func (b *builder) class(t *manifest.Task) *etw.Provider {
	guid := etw.GUID(t.EventGUID)
	for _, c := range b.classes {
		if c.Desc.GUID == guid {
			return c
		}
	}
	c := &etw.Provider{Desc: &etw.ProviderDesc{Name: t.Name, GUID: guid}}
	b.classes = append(b.classes, c)
	return c
}

func (b *builder) event(e *manifest.Event) *etw.EventDesc {
	d := &etw.EventDesc{
		Provider: b.desc,
		ID:       uint16(e.ID),
		Version:  e.Version,
		Keywords: e.Mask(),
		Name:     e.Symbol,
		Message:  e.Message,
	}
	if e.Channel != nil {
		d.Channel = e.Channel.Value
	}
	if e.Level != nil {
		d.Level = e.Level.Value
	}
	if e.Task != nil {
		d.Task, d.TaskName = e.Task.Value, e.Task.Name
	}
	if e.Opcode != nil {
		d.Opcode, d.OpcodeName = e.Opcode.Value, strings.TrimPrefix(e.Opcode.Name, "win:")
	}
	if t := e.Template; t != nil {
		fields, ok := b.templates[t]
		if !ok {
			fields = b.fields(&scope{fields: t.Fields})
			b.templates[t] = fields
		}
		d.Fields = fields
	}
	return d
}

// A scope is a list of fields that counts and lengths may refer to.
type scope struct {
	fields []*manifest.Field
	outer  *scope
}

// up returns the scope n structs outward.
func (s *scope) up(n int) *scope {
	for range n {
		s = s.outer
	}
	return s
}

func (b *builder) fields(in *scope) []etw.FieldDesc {
	out := make([]etw.FieldDesc, len(in.fields))
	for i, f := range in.fields {
		d := &out[i]
		d.Name = f.Name
		// Both packages number types as Windows does.
		d.Type = etw.InType(f.Type)
		d.Out = etw.OutType(f.OutType)
		d.Map = b.valueMap(f.Map)
		d.Count = in.size(f.Count)
		d.Length = in.size(f.Length)
		switch f.Type {
		case manifest.Opaque:
			d.Type, d.Length = etw.InBinary, etw.Size{Kind: etw.SizeRest}
		case manifest.Struct:
			d.Fields = b.fields(&scope{f.Fields, in})
		}
	}
	return out
}

// size resolves a count or a length. The parser has seen to it that the field it
// names is there.
func (s *scope) size(m manifest.Size) etw.Size {
	switch m.Kind {
	case manifest.ConstSize:
		return etw.Size{Kind: etw.SizeConst, N: uint32(m.Const)}
	case manifest.RestSize:
		return etw.Size{Kind: etw.SizeRest}
	case manifest.FieldSize:
		for i, f := range s.up(m.Up).fields {
			if f == m.Field {
				return etw.Size{Kind: etw.SizeField, Up: uint8(m.Up), N: uint32(i)}
			}
		}
	}
	return etw.Size{}
}

func (b *builder) valueMap(m *manifest.Map) *etw.MapDesc {
	if m == nil {
		return nil
	}
	d, ok := b.maps[m]
	if !ok {
		d = &etw.MapDesc{Name: m.Name, Flags: m.Flags}
		for _, e := range m.Entries {
			// Map messages of the message compiler end in a space.
			name := strings.Join(strings.Fields(e.Message), " ")
			if name == "" {
				name = e.Symbol
			}
			if name != "" {
				d.Entries = append(d.Entries, etw.MapEntry{Value: e.Value, Name: name})
			}
		}
		b.maps[m] = d
	}
	return d
}
