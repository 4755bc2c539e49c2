package gen

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The model pairs each node of a manifest with its Go form. It is built once, with all names
// settled, and then only read. For
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
	events  []*event      // those that records lead to, by key; then the others, as in the file
	anys    []*anyVersion // in the order of their events
	layouts []*layout
	enums   []*enum
	structs []*structType
	consts  []*constGroup
	tests   map[string]string        // the names of test functions, by what they would be called
	free    func(name string) string // a name that no declaration has

	classes   map[etw.GUID]string // the variables of the classes of events
	goNames   map[any]string      // the constants of keywords, levels, tasks and opcodes
	accessors map[string]*accessor
	keyword   string // the type of keywords
	task      string // and that of tasks
}

// An event is a generated type.
type event struct {
	m       *manifest.Event
	key     etw.Key
	lost    string  // why no record leads to it, "" if some do
	named   bool    // records identify it by its name
	goName  string  // GCStartV1
	desc    string  // gcStartV1, the variable of its description
	layout  *layout // nil if the payload is empty
	extends *event  // the next older version, if this one only appends to it
	file    string  // stem of the file it is written to
	pkg     *pkg
	any     *anyVersion // that it is a version of, or nil
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
	name   string     // in descriptions
	inType etw.InType // in descriptions
	goName string
	index  int    // in its scope
	has    string // the field that says whether this optional one is there, or ""
	getter string // the method that returns it, or ""
	kind   kind
	offset int // of a field of the prefix

	accessor *accessor // that has the getter, or nil
}

// An accessor is the interface of the events that have a field.
type accessor struct {
	goName, getter, field, doc string
	goType                     goType
	differs                    bool // the field has several types, so that there is no interface
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
	goType *jen.Statement
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

	automatics map[*manifest.Task]bool
}

type enumKey struct {
	m    *manifest.Map
	bits int
}

// build makes the model of the package for provider p of m.
func build(m *manifest.Manifest, p *manifest.Provider, opts Options) (*pkg, error) {
	b := &builder{
		pkg: &pkg{
			m: p, name: opts.Package, source: path.Base(filepath.ToSlash(m.File)),
			classes: make(map[etw.GUID]string), goNames: make(map[any]string), accessors: make(map[string]*accessor),
		},
		opts:    opts,
		symbols: make(map[string]int),
		layout:  make(map[*manifest.Template]*layout),
		enumOf:  make(map[enumKey]*enum),
	}
	b.automatics = automaticTasks(p)
	b.names = newNames(m.File, opts, &b.errs)
	b.names.lenient = b.names.lenient || p.EventSource
	b.addEvents()
	b.addLayouts()
	b.checkAccessors()
	b.addMaps()
	b.nameEvents()
	b.addAnyVersions()
	b.nameStructs()
	b.nameEnums()
	b.nameTypes()
	b.addConstants()
	b.nameTests()
	b.mergeVersions()
	b.names.finish()
	if err := b.errs.err(); err != nil {
		return nil, err
	}
	return b.pkg, nil
}

// addEvents adds the events: first those that records identify by an id, then
// those that they identify by class and opcode, then those that none leads to.
func (b *builder) addEvents() {
	for _, e := range b.m.Events {
		ev := &event{pkg: b.pkg, m: e, key: keyOf(e), lost: e.Undispatched, named: b.m.SelfDescribing || e.TraceName != "", file: "events"}
		if ev.isClassic() {
			ev.lost = ""
		}
		if e.Task != nil && b.opts.Files != "one" && !b.automatic(e.Task) {
			ev.file = fileStem(e.Task.Name)
		}
		b.events = append(b.events, ev)
	}
	b.findLost()
	slices.SortStableFunc(b.events, func(x, y *event) int {
		if x.lost != "" || y.lost != "" {
			return strings.Compare(x.lost[:min(1, len(x.lost))], y.lost[:min(1, len(y.lost))])
		}
		return cmp.Or(cmp.Compare(x.key.Kind, y.key.Kind), bytes.Compare(x.key.Provider[:], y.key.Provider[:]),
			cmp.Compare(x.key.ID, y.key.ID), cmp.Compare(x.key.Version, y.key.Version))
	})
}

// keyOf returns the identity of an event of the provider.
func keyOf(e *manifest.Event) etw.Key {
	if e.Kind() == etw.KindClassic {
		return classicKey(e)
	}
	return etw.Key{ID: uint16(e.ID), Version: e.Version}
}

// classicKey returns the identity of an event whose task has a class in its classic form.
func classicKey(e *manifest.Event) etw.Key {
	k := etw.Key{Kind: etw.KindClassic, Provider: e.Task.EventGUID, Version: e.Version}
	if e.Opcode != nil {
		k.ID = uint16(e.Opcode.Value)
	}
	return k
}

// findLost finds the classic events whose class, opcode and version another one
// has, too: one that has an id as well, or an earlier one.
func (b *builder) findLost() {
	taken := make(map[etw.Key]*event)
	for _, ev := range b.events {
		if t := ev.m.Task; ev.lost == "" && !ev.isClassic() && t != nil && !t.EventGUID.IsZero() {
			if k := classicKey(ev.m); taken[k] == nil {
				taken[k] = ev
			}
		}
	}
	for _, ev := range b.events {
		if !ev.isClassic() {
			continue
		}
		if first := taken[ev.key]; first != nil {
			ev.lost = fmt.Sprintf("the event in line %d has the same class, opcode and version", first.m.Pos.Line)
			continue
		}
		taken[ev.key] = ev
	}
}

// isClassic reports whether records identify ev by class and opcode alone.
func (ev *event) isClassic() bool { return ev.key.Kind == etw.KindClassic }

// number returns the opcode of a classic event, and the id of others.
func (ev *event) number() uint32 {
	if ev.isClassic() {
		return uint32(ev.key.ID)
	}
	return ev.m.ID
}

// isVersionOf reports whether ev and other are versions of one event.
func (ev *event) isVersionOf(other *event) bool {
	k := ev.key
	k.Version = other.key.Version
	return k == other.key && ev.lost == "" && other.lost == ""
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
		if ev.isVersionOf(prev) && extends(ev.m.Template, prev.m.Template) {
			ev.extends = prev
		}
	}
}

// scope makes the fields of an event or struct.
func (b *builder) scope(in *scoping, fields []*manifest.Field) scope {
	own := b.names.scope("field", "Field", reservedFields)
	for i, m := range fields {
		key := in.path + "." + m.Name
		f := &field{m: m, name: m.Name, inType: m.Type, index: i}
		name := fieldGoName(m.Name, i)
		if m.Type == manifest.Opaque {
			name = "Rest"
		}
		f.goName = own.claim(claim{
			what: "field " + key, key: "field:" + key, pos: m.Pos, goName: m.GoName, name: name,
		})
		if m.Type == manifest.Opaque {
			f.name, f.inType = f.goName, etw.InBinary
		}
		if m.When != (etw.When{}) {
			f.has = own.claim(claim{
				what: "the presence of field " + key, key: "field:" + key, pos: m.Pos, name: "Has" + f.goName, derived: true,
			})
		}
		if in.owner == nil && slices.Contains(b.opts.Accessors, m.Name) {
			f.getter = own.claim(claim{
				what: "the accessor of field " + key, key: "field:" + key, pos: m.Pos, name: "Get" + f.goName, derived: true,
			})
		}
		var err error
		if f.kind, err = b.kind(in, f); err != nil {
			b.errs.add(m.Pos, "field "+key, err.Error())
			f.kind = restKind{}
		}
		in.fields = append(in.fields, f)
	}
	return in.scope
}

// checkAccessors reports accessors of fields that no event has.
func (b *builder) checkAccessors() {
	for _, name := range b.opts.Accessors {
		has := func(f *field) bool { return f.getter != "" && f.m.Name == name }
		if !slices.ContainsFunc(b.layouts, func(l *layout) bool { return slices.ContainsFunc(l.fields, has) }) {
			b.errs.add(manifest.Pos{File: b.names.file}, "", fmt.Sprintf("--accessor %s: no event has such a field", name))
		}
	}
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
