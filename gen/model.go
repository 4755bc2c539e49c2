package gen

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/manifest"
)

// The model pairs each node of a manifest with what Go makes of it. It is built
// once, with all names settled, and then only read. For
//
//	<event value="15" version="0" symbol="BulkType" template="BulkType" .../>
//	<template tid="BulkType">
//	  <data name="Count" inType="win:UInt32"/>
//	  <data name="ClrInstanceID" inType="win:UInt16"/>
//	  <struct name="Values" count="Count">
//	    <data name="TypeID" inType="win:UInt64"/>
//	    <data name="Name" inType="win:UnicodeString"/>
//	  </struct>
//	</template>
//
// it holds
//
//	event      goName BulkType, desc bulkType, layout:
//	layout     prefix 2 fields of 6 bytes, then fields that a cursor reads
//	  field    Count, a number at offset 0
//	  field    ClrInstanceID, a number at offset 4
//	  field    Values, a struct array of:
//	structType goName BulkTypeValue, view BulkTypeValues, 10 bytes at least

// A pkg is a provider and the Go package that it becomes.
type pkg struct {
	m       *manifest.Provider
	name    string
	source  string        // the name of the manifest's file
	events  []*event      // by id and version; then those without a key, as in the file
	anys    []*anyVersion // by id
	layouts []*layout
	enums   []*enum
	structs []*structType
	consts  []*constGroup
}

// An event is a generated type.
type event struct {
	m       *manifest.Event
	goName  string  // GCStartV1
	desc    string  // gcStartV1, the variable of its description
	layout  *layout // nil if the payload is empty
	extends *event  // the next older version, if this one only appends to it
	file    string  // stem of the file it is written to
}

// fields returns the fields of ev, none if its payload is empty.
func (ev *event) fields() []*field {
	if ev.layout == nil {
		return nil
	}
	return ev.layout.fields
}

// A field is a field of a generated struct.
type field struct {
	m      *manifest.Field
	goName string
	index  int // in its scope
	kind   kind
	offset int // of a field of the prefix
}

// An enum is the type that a map becomes. A map whose fields differ in size
// becomes one for each size.
type enum struct {
	m       *manifest.Map
	bits    int
	narrow  bool // there is one for wider fields, which has the map's own name
	goName  string
	desc    string // the variable of its description
	entries []enumEntry
}

// An enumEntry is a constant.
type enumEntry struct {
	m      *manifest.MapEntry
	goName string
}

// A constGroup is a block of constants: those of one kind.
type constGroup struct {
	doc    string
	goType string
	hex    bool
	consts []constant
}

// A constant is a keyword, level, task, opcode or channel.
type constant struct {
	goName string
	value  uint64
	doc    string
}

// A builder makes the model of a package.
type builder struct {
	*pkg
	opts    Options
	names   *names
	errs    diagnostics
	symbols map[string]int // how many events have a symbol
	layout  map[*manifest.Template]*layout
	enumOf  map[enumKey]*enum
}

type enumKey struct {
	m    *manifest.Map
	bits int
}

// build makes the model of the package for provider p of m.
func build(m *manifest.Manifest, p *manifest.Provider, opts Options) (*pkg, error) {
	b := &builder{
		pkg:     &pkg{m: p, name: opts.Package, source: path.Base(filepath.ToSlash(m.File))},
		opts:    opts,
		symbols: make(map[string]int),
		layout:  make(map[*manifest.Template]*layout),
		enumOf:  make(map[enumKey]*enum),
	}
	b.names = newNames(m.File, opts, &b.errs)
	b.addEvents()
	b.addLayouts()
	b.addMaps()
	b.nameEvents()
	b.addAnyVersions()
	b.nameStructs()
	b.nameEnums()
	b.addConstants()
	b.names.finish()
	if err := b.errs.err(); err != nil {
		return nil, err
	}
	return b.pkg, nil
}

// addEvents adds the events in the order in which they are written.
func (b *builder) addEvents() {
	for _, e := range b.m.Events {
		ev := &event{m: e, file: "events"}
		if e.Task != nil {
			ev.file = fileStem(e.Task.Name)
		}
		b.events = append(b.events, ev)
	}
	slices.SortStableFunc(b.events, func(x, y *event) int {
		switch {
		case (x.m.Undispatched != "") != (y.m.Undispatched != ""):
			if x.m.Undispatched != "" {
				return 1
			}
			return -1
		case x.m.Undispatched != "":
			return 0
		case x.m.ID != y.m.ID:
			return int(x.m.ID) - int(y.m.ID)
		}
		return int(x.m.Version) - int(y.m.Version)
	})
}

// addLayouts adds a layout for each template that an event uses, in the order
// of the events.
func (b *builder) addLayouts() {
	for _, ev := range b.events {
		t := ev.m.Template
		if t == nil || len(t.Fields) == 0 {
			continue
		}
		l := b.layout[t]
		if l == nil {
			l = &layout{template: t}
			l.scope = b.scope(&scoping{layout: l, path: t.ID}, t.Fields)
			l.placePrefix()
			b.layout[t] = l
			b.layouts = append(b.layouts, l)
		}
		l.events = append(l.events, ev)
		ev.layout = l
	}
	for i := 1; i < len(b.events); i++ {
		ev, prev := b.events[i], b.events[i-1]
		if ev.m.Undispatched == "" && prev.m.ID == ev.m.ID && extends(ev.m.Template, prev.m.Template) {
			ev.extends = prev
		}
	}
}

// scope makes the fields of an event or struct.
func (b *builder) scope(in *scoping, fields []*manifest.Field) scope {
	own := b.names.scope("field", reservedFields)
	for i, m := range fields {
		key := in.path + "." + m.Name
		f := &field{m: m, index: i}
		name := fieldGoName(m.Name)
		if m.Type == manifest.Opaque {
			name = "Rest"
		}
		f.goName = own.claim(claim{
			what: "field " + key, key: "field:" + key, pos: m.Pos, goName: m.GoName, name: name,
		})
		var err error
		if f.kind, err = b.kind(in, f); err != nil {
			b.errs.add(m.Pos, "field "+key, err.Error())
			f.kind = restKind{}
		}
		in.fields = append(in.fields, f)
	}
	return in.scope
}

// enum returns the type of a map for fields of the given size.
func (b *builder) enum(m *manifest.Map, bits int) *enum {
	key := enumKey{m, bits}
	e := b.enumOf[key]
	if e == nil {
		e = &enum{m: m, bits: bits}
		b.enumOf[key] = e
	}
	return e
}

// addMaps adds the types of all maps, also of those that no field uses.
func (b *builder) addMaps() {
	for _, m := range b.m.Maps {
		used := false
		for _, bits := range []int{32, 16, 8} {
			if e := b.enumOf[enumKey{m, bits}]; e != nil {
				b.enums = append(b.enums, e)
				used = true
			}
		}
		if !used {
			b.enums = append(b.enums, b.enum(m, 32))
		}
	}
}

// eventKey returns the key by which --rename names an event: its symbol, or
// where that names several or none, with the id and version.
func (b *builder) eventKey(ev *event) string {
	if ev.m.Symbol != "" && b.symbols[ev.m.Symbol] == 1 {
		return ev.m.Symbol
	}
	return fmt.Sprintf("%s@%d.%d", ev.m.Symbol, ev.m.ID, ev.m.Version)
}

// nameEvents settles the names of events.
func (b *builder) nameEvents() {
	type idSymbol struct {
		id     uint32
		symbol string
	}
	seen := make(map[idSymbol]bool)
	for _, ev := range b.events {
		b.symbols[ev.m.Symbol]++
	}
	for _, ev := range b.events {
		symbol := eventTitle(ev.m)
		name := exportedName(symbol)
		// Versions that share a symbol are told apart by their number.
		if at := (idSymbol{ev.m.ID, symbol}); seen[at] && ev.m.Version > 0 {
			name = fmt.Sprintf("%sV%d", name, ev.m.Version)
		} else {
			seen[at] = true
		}
		key := b.eventKey(ev)
		ev.goName = b.names.pkg.claim(claim{
			what: "event " + symbol, key: key, pos: ev.m.Pos, goName: ev.m.GoName, name: name,
		})
		ev.desc = b.names.local(unexportedName(ev.goName))
	}
	for _, l := range b.layouts {
		if len(l.events) > 1 {
			l.goName = b.names.local(unexportedName(exportedName(l.template.ID) + "Layout"))
		}
	}
}

// eventTitle returns the symbol of an event, or else what its task and opcode
// make of it.
func eventTitle(e *manifest.Event) string {
	if e.Symbol != "" {
		return e.Symbol
	}
	var parts []string
	if e.Task != nil {
		parts = append(parts, e.Task.Name)
	}
	if e.Opcode != nil {
		parts = append(parts, strings.TrimPrefix(e.Opcode.Name, "win:"))
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("Event%d", e.ID))
	}
	return strings.Join(parts, " ")
}

// nameStructs settles the names of structs.
func (b *builder) nameStructs() {
	for _, s := range b.structs {
		user := s.layout.events[0]
		claimName := func(name string) string {
			return b.names.pkg.claim(claim{
				what: fmt.Sprintf("struct %s of event %s", s.field.m.Name, eventTitle(user.m)),
				key:  b.eventKey(user), pos: s.field.m.Pos, name: name, derived: true,
			})
		}
		name := user.goName + exportedName(s.field.goName)
		if s.field.m.Count.Kind == manifest.NoSize {
			s.goName = claimName(name)
			continue
		}
		one := user.goName + singular(exportedName(s.field.goName))
		if one == name {
			name += "List"
		}
		s.goName, s.view = claimName(one), claimName(name)
		claimName("Make" + s.view)
	}
}

// nameEnums settles the names of the types of maps and of their constants.
func (b *builder) nameEnums() {
	for i, e := range b.enums {
		name, given := mapName(e.m.Name), e.m.GoName
		if b.names.pkg.has(name) {
			name = exportedName(e.m.Name) // an event has the short name
		}
		if e.narrow = i > 0 && b.enums[i-1].m == e.m; e.narrow {
			widest := b.enums[i-1]
			for j := i; b.enums[j].narrow; j-- {
				widest = b.enums[j-1]
			}
			name, given = fmt.Sprintf("%s%d", widest.goName, e.bits), ""
		}
		e.goName = b.names.pkg.claim(claim{
			what: "map " + e.m.Name, key: "map:" + e.m.Name, pos: e.m.Pos, goName: given, name: name, derived: e.narrow,
		})
		e.desc = b.names.local(unexportedName(e.goName) + "Map")
	}
	for _, e := range b.enums {
		b.nameEntries(e)
	}
}

// nameEntries settles the names of the constants of an enum. Of values that share
// a text all but the first get their number, too.
func (b *builder) nameEntries(e *enum) {
	seen := make(map[string]bool)
	for _, entry := range e.m.Entries {
		if e.bits < 32 && entry.Value>>e.bits != 0 {
			continue // no field of this size can have the value
		}
		name := prefixedName(e.goName, entryName(e.m.Name, entry.StringID, entry.Message))
		switch {
		case entry.Symbol != "" && !e.narrow:
			name = exportedName(entry.Symbol)
		case name == e.goName || seen[name]:
			name = fmt.Sprintf("%s_%#x", name, entry.Value)
		}
		seen[name] = true
		given := entry.GoName
		if e.narrow {
			given = "" // the widest type has it
		}
		goName := b.names.pkg.claim(claim{
			what: fmt.Sprintf("value %#x of map %s", entry.Value, e.m.Name),
			key:  fmt.Sprintf("entry:%s.%#x", e.m.Name, entry.Value),
			pos:  entry.Pos, goName: given, name: name, derived: e.narrow,
		})
		e.entries = append(e.entries, enumEntry{entry, goName})
	}
}
