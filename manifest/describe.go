package manifest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Describe returns the manifest's description of its providers in the form by which package
// etw decodes events without generated code: see [etw.NewDecoder]. Generated packages have
// the same, but for the types.
func (m *Manifest) Describe() []*etw.Provider {
	return each.Of(m.Providers, (*Provider).Describe)
}

// Describe returns the manifest's description of one provider. Events that no key leads to
// are left out.
func (p *Provider) Describe() *etw.Provider {
	d := newDescriber()
	out := &etw.Provider{Desc: &etw.ProviderDesc{Name: p.Name, GUID: p.GUID, EventSource: p.EventSource, Costly: p.Costly()}}
	for _, e := range p.Events {
		if desc := d.event(e); desc.Kind == etw.KindClassic || e.Undispatched == "" {
			desc.Provider = out.Desc
			desc.Named = desc.Named || p.SelfDescribing
			out.Events = append(out.Events, desc)
		}
	}
	slices.SortStableFunc(out.Events, func(a, b *etw.EventDesc) int {
		if a.Kind == etw.KindClassic && b.Kind == etw.KindClassic {
			return cmp.Or(bytes.Compare(a.Class[:], b.Class[:]), cmp.Compare(a.Opcode, b.Opcode), cmp.Compare(a.Version, b.Version))
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	for _, k := range p.Keywords {
		out.Keywords = append(out.Keywords, etw.KeywordDesc{Name: k.Name, Mask: k.Mask})
	}
	for _, l := range p.Levels {
		out.Levels = append(out.Levels, etw.LevelDesc{Name: l.Name, Value: l.Value})
	}
	return out
}

// Describe returns the manifest's description of one event. It names no provider.
func (e *Event) Describe() *etw.EventDesc { return newDescriber().event(e) }

// A describer makes the descriptions of one provider. Events share the same parts as in the
// manifest in the descriptions too.
type describer struct {
	maps      map[*Map]*etw.MapDesc
	templates map[*Template][]etw.FieldDesc
}

func newDescriber() *describer {
	return &describer{maps: make(map[*Map]*etw.MapDesc), templates: make(map[*Template][]etw.FieldDesc)}
}

func (d *describer) event(e *Event) *etw.EventDesc {
	out := &etw.EventDesc{
		Kind:     e.Kind(),
		ID:       uint16(e.ID),
		Version:  e.Version,
		Keywords: e.Mask(),
		Name:     cmp.Or(e.TraceName, e.Symbol),
		Named:    e.TraceName != "",
		Message:  e.Message,

		Corrected: e.Overridden != nil,
	}
	if e.Channel != nil {
		out.Channel = e.Channel.Value
	}
	if e.Level != nil {
		out.Level = e.Level.Value
	}
	if e.SessionLevel != nil {
		out.SessionLevel = e.SessionLevel.Value
	}
	if e.Task != nil {
		out.Task, out.TaskName, out.Class = e.Task.Value, e.Task.Name, e.Task.EventGUID
	}
	if e.Opcode != nil {
		out.Opcode, out.OpcodeName = e.Opcode.Value, strings.TrimPrefix(e.Opcode.Name, "win:")
	}
	if t := e.Template; t != nil {
		fields, ok := d.templates[t]
		if !ok {
			fields = d.fields(&fieldScope{fields: t.Fields})
			d.templates[t] = fields
		}
		out.Fields, out.UserData = fields, t.UserDataXML()
	}
	return out
}

// A fieldScope is a list of fields that counts and lengths may refer to.
type fieldScope struct {
	fields []*Field
	outer  *fieldScope
}

// up returns the fieldScope n structs outward.
func (s *fieldScope) up(n int) *fieldScope {
	for range n {
		s = s.outer
	}
	return s
}

func (d *describer) fields(in *fieldScope) []etw.FieldDesc {
	out := make([]etw.FieldDesc, len(in.fields))
	for i, f := range in.fields {
		out[i] = etw.FieldDesc{
			Name: f.Name, Type: f.Type, Out: f.OutType, Map: d.valueMap(f.Map),
			Count: in.size(f.Count), Length: in.size(f.Length), When: f.When,
		}
		switch f.Type {
		case Opaque:
			out[i].Type, out[i].Length = etw.InBinary, etw.Size{Kind: etw.SizeRest}
		case etw.InStruct:
			out[i].Fields = d.fields(&fieldScope{f.Fields, in})
		}
	}
	return out
}

// size resolves a count or a length. The parser has seen to it that the field it
// names is there.
func (s *fieldScope) size(m Size) etw.Size {
	switch m.Kind {
	case etw.SizeConst:
		return etw.Size{Kind: etw.SizeConst, N: uint32(m.Const)}
	case etw.SizeRest:
		return etw.Size{Kind: etw.SizeRest}
	case etw.SizeField:
		for i, f := range s.up(m.Up).fields {
			if f == m.Field {
				return etw.Size{Kind: etw.SizeField, Up: uint8(m.Up), N: uint32(i)}
			}
		}
	}
	return etw.Size{}
}

func (d *describer) valueMap(m *Map) *etw.MapDesc {
	if m == nil {
		return nil
	}
	out, ok := d.maps[m]
	if !ok {
		out = &etw.MapDesc{Name: m.Name, Flags: m.Flags}
		for _, e := range m.Entries {
			// Map messages of the message compiler end in a space.
			name := cmp.Or(strings.Join(strings.Fields(e.Message), " "), e.Symbol)
			if name != "" {
				out.Entries = append(out.Entries, etw.MapEntry{Value: e.Value, Name: name})
			}
		}
		d.maps[m] = out
	}
	return out
}
