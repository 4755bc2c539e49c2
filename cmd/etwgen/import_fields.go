package main

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A fieldScope is a list of described fields, and the fields made of them.
type fieldScope struct {
	fields []etw.FieldDesc
	made   []*manifest.Field // in a manifest
	byDesc []*manifest.Field // the field of each description
	names  map[string]bool
	outer  *fieldScope
}

// fields makes the fields of a template, or the members of a struct. Where one has
// no form in a manifest, an opaque field takes the place of that and of the rest.
func (p *tracedProvider) fields(s *fieldScope) []*manifest.Field {
	s.names = make(map[string]bool)
	for i := range s.fields {
		d := s.fields[i]
		if why := p.field(s, &d); why != "" {
			return append(s.made, s.opaqueRest(why, s.fields[i:]))
		}
	}
	return s.made
}

// field makes a field, or says why a manifest has no form for it.
func (p *tracedProvider) field(s *fieldScope, d *etw.FieldDesc) (why string) {
	if why = cmp.Or(s.unwritableType(d), s.unwritableSize(d)); why != "" {
		return why
	}
	name := s.name(d.Name)
	f := &manifest.Field{Name: name, Type: d.Type}
	if d.Type == etw.InBool8 && d.Count.Kind != etw.SizeNone {
		f.Type, d.Out = etw.InUInt8, etw.OutBoolean // bytes, as they are
	}
	if text := characters[d.Type]; text != etw.InNull {
		f.Type = text
		if d.Count.Kind == etw.SizeNone {
			d.Length = etw.Size{Kind: etw.SizeConst, N: 1}
		} else {
			d.Length, d.Count = d.Count, etw.Size{}
		}
	}
	if d.Type == etw.InStruct {
		f.Fields = p.fields(&fieldScope{fields: d.Fields, outer: s})
		if last := f.Fields[len(f.Fields)-1]; last.Type == manifest.Opaque {
			return last.Opaque
		}
	}
	f.Count = s.size(d.Count, name+"Count")
	f.Length = s.size(d.Length, name+"Length")
	if d.Out != manifest.DefaultOut(f.Type) {
		f.OutType = d.Out
	}
	if manifest.CanCount(d.Type) { // these types are also those that have maps
		f.Map = p.valueMap(d.Map)
	}
	s.made, s.byDesc = append(s.made, f), append(s.byDesc, f)
	if d.Room > 0 { // the rest of it is a field that means nothing
		unused := int(d.Room) - d.Type.Size(etw.Ptr64)
		s.made = append(s.made, &manifest.Field{Name: s.name(name + "Padding"), Type: etw.InBinary, Length: manifest.Size{Kind: etw.SizeConst, Const: uint16(unused)}})
	}
	return ""
}

// characters are the types of single characters, which manifests have as strings of
// one.
var characters = map[etw.InType]etw.InType{
	etw.InChar8:  etw.InAnsiString,
	etw.InChar16: etw.InUnicodeString,
}

// opaqueRest returns the field that takes the place of others.
func (s *fieldScope) opaqueRest(why string, rest []etw.FieldDesc) *manifest.Field {
	f := &manifest.Field{Type: manifest.Opaque, Length: manifest.Size{Kind: etw.SizeRest}, Opaque: why}
	for i := range rest {
		f.Lost = append(f.Lost, s.name(rest[i].Name))
	}
	f.Name = f.Lost[0]
	return f
}

// name returns a name that no earlier field has. One that has none is called as
// decoders call it, by its number.
func (s *fieldScope) name(base string) string {
	base = cmp.Or(base, "field"+strconv.Itoa(len(s.byDesc)))
	name := base
	for n := len(s.names) + 1; s.names[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	s.names[name] = true
	return name
}

func (s *fieldScope) unwritableType(d *etw.FieldDesc) string {
	switch {
	case d.Type == etw.InStruct && s.outer != nil:
		return fmt.Sprintf("field %s is a struct in a struct", d.Name)
	case d.Type == etw.InStruct && len(d.Fields) == 0:
		return fmt.Sprintf("struct %s has no members", d.Name)
	case d.Type > etw.InCountedBinary && d.Type != etw.InBool8 && characters[d.Type] == etw.InNull:
		return fmt.Sprintf("field %s has type %s, which manifests do not have", d.Name, d.Type)
	}
	return ""
}

func (s *fieldScope) unwritableSize(d *etw.FieldDesc) string {
	size := d.Type.Size(etw.Ptr64)
	switch {
	case s.outer != nil && (d.Count.Kind == etw.SizeRest || d.Length.Kind == etw.SizeRest):
		return fmt.Sprintf("field %s takes the rest of the payload within a struct", d.Name)
	case d.Length.Kind == etw.SizeRest && (d.Type != etw.InBinary || d.Count.Kind != etw.SizeNone):
		return fmt.Sprintf("field %s of type %s takes the rest of the payload", d.Name, d.Type)
	case d.Type == etw.InBinary && d.Length.Kind == etw.SizeNone:
		return fmt.Sprintf("the length of field %s is not known", d.Name)
	case d.Room > 0 && (size == 0 || int(d.Room) <= size):
		return fmt.Sprintf("field %s has room for more than its value", d.Name)
	case d.Count.Kind == etw.SizePrefix && d.Length.Kind == etw.SizePrefix:
		return fmt.Sprintf("each element of field %s has its length before it", d.Name)
	case !s.counts(d.Count) || !s.counts(d.Length):
		return fmt.Sprintf("the size of field %s is in one that manifests cannot take it from", d.Name)
	case d.Type != etw.InUnicodeString && d.Type != etw.InAnsiString && d.Type != etw.InBinary && d.Length.Kind != etw.SizeNone:
		return fmt.Sprintf("field %s of type %s has a length", d.Name, d.Type)
	}
	return ""
}

// counts reports whether a manifest can take a size from where it is.
func (s *fieldScope) counts(d etw.Size) bool {
	if d.Kind == etw.SizeConst {
		return 0 < d.N && d.N <= 0xffff
	}
	if d.Kind != etw.SizeField {
		return true
	}
	f := s.up(int(d.Up)).byDesc[d.N]
	return manifest.CanCount(f.Type) && f.Count.Kind == etw.SizeNone
}

// up returns the scope n structs outward.
func (s *fieldScope) up(n int) *fieldScope {
	for range n {
		s = s.outer
	}
	return s
}

// size makes a count or a length. One in the payload, before the field, becomes a
// field of its own.
func (s *fieldScope) size(d etw.Size, name string) manifest.Size {
	switch d.Kind {
	case etw.SizeConst:
		return manifest.Size{Kind: d.Kind, Const: uint16(d.N)}
	case etw.SizeField:
		return manifest.Size{Kind: d.Kind, Field: s.up(int(d.Up)).byDesc[d.N], Up: int(d.Up)}
	case etw.SizePrefix:
		f := &manifest.Field{Name: s.name(name), Type: etw.InUInt16}
		s.made = append(s.made, f)
		return manifest.Size{Kind: etw.SizeField, Field: f}
	}
	return manifest.Size{Kind: d.Kind}
}

// valueMap makes a map, once for each name.
func (p *tracedProvider) valueMap(d *etw.MapDesc) *manifest.Map {
	if d == nil {
		return nil
	}
	if m := p.maps[d.Name]; m != nil {
		return m
	}
	m := &manifest.Map{Name: d.Name, Flags: d.Flags}
	for _, e := range d.Entries {
		entry := &manifest.MapEntry{Value: e.Value}
		entry.Message, entry.StringID = p.text("map_"+d.Name+"_"+strconv.FormatUint(uint64(e.Value), 10), e.Name)
		m.Entries = append(m.Entries, entry)
	}
	p.maps[d.Name] = m
	p.Maps = append(p.Maps, m)
	return m
}
