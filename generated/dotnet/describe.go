package dotnet

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/generated/dotnet/internal/table"
	"github.com/etwgen/etwgen/runtime/etw"
)

// types are those of the table.
var types = map[string]etw.InType{
	"string": etw.InUnicodeString, "bool": etw.InBoolean, "bytes": etw.InBinary, "guid": etw.InGUID, "time": etw.InFileTime,
	"int8": etw.InInt8, "uint8": etw.InUInt8, "int16": etw.InInt16, "uint16": etw.InUInt16, "int32": etw.InInt32,
	"uint32": etw.InUInt32, "int64": etw.InInt64, "uint64": etw.InUInt64, "float": etw.InFloat, "double": etw.InDouble,
	"pointer": etw.InPointer,
}

// A describer makes the descriptions of one source.
type describer struct {
	*table.Source
	maps map[string]*etw.MapDesc
}

// describe returns the description of a source.
func describe(s *table.Source, guid etw.GUID) *etw.Provider {
	d := &describer{s, make(map[string]*etw.MapDesc)}
	for _, m := range s.Maps {
		desc := &etw.MapDesc{Name: m.Name, Flags: m.Bits}
		for _, v := range m.Values {
			desc.Entries = append(desc.Entries, etw.MapEntry{Value: uint32(v.Value), Name: v.Name})
		}
		d.maps[m.Name] = desc
	}
	p := &etw.Provider{Desc: &etw.ProviderDesc{Name: s.Name, GUID: guid}}
	for _, k := range s.Keywords {
		p.Keywords = append(p.Keywords, etw.KeywordDesc{Name: k.Name, Mask: k.Value})
	}
	for i := range s.Events {
		e := d.event(&s.Events[i])
		e.Provider = p.Desc
		p.Events = append(p.Events, e)
	}
	slices.SortStableFunc(p.Events, func(a, b *etw.EventDesc) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	return p
}

func (d *describer) event(e *table.Event) *etw.EventDesc {
	out := &etw.EventDesc{
		ID: e.ID, Version: e.Version, Name: e.Name, Level: etw.Level(e.Level), Named: d.SelfDescribing,
		Task: uint16(e.Task.Value), TaskName: e.Task.Name, Corrected: e.Wrong,
	}
	if e.Opcode.Value != 0 {
		out.Opcode, out.OpcodeName = etw.Opcode(e.Opcode.Value), e.Opcode.Name
	}
	for _, k := range e.Keywords {
		out.Keywords |= k.Value
	}
	fields := e.Fields
	if e.Wrong {
		fields = e.Written
	}
	out.Fields = d.fields(fields)
	return out
}

// fields describes fields as the source writes them.
func (d *describer) fields(list []table.Field) []etw.FieldDesc {
	var out []etw.FieldDesc
	for _, f := range list {
		desc := etw.FieldDesc{Name: f.Name, Type: types[f.Type]}
		switch {
		case len(f.Fields) > 0:
			desc.Type, desc.Fields = etw.InStruct, d.fields(f.Fields)
			if f.Counted {
				desc.Count = etw.Size{Kind: etw.SizeField, N: uint32(len(out))}
				out = append(out, etw.FieldDesc{Name: f.Name + "Count", Type: etw.InUInt16})
			}
		case desc.Type == etw.InNull:
			desc.Type, desc.Map = etw.InUInt32, d.maps[f.Type]
		case desc.Type == etw.InBoolean && d.SelfDescribing:
			desc.Type = etw.InBool8
		case desc.Type == etw.InBinary && d.SelfDescribing:
			desc.Type = etw.InCountedBinary
		case desc.Type == etw.InBinary:
			desc.Length = etw.Size{Kind: etw.SizeField, N: uint32(len(out))}
			out = append(out, etw.FieldDesc{Name: f.Name + "Size", Type: etw.InUInt32})
		}
		out = append(out, desc)
	}
	return out
}
