package gen

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/manifest"
)

// An anyVersion is the type that takes every version of an event.
type anyVersion struct {
	goName   string   // AnyGCStart
	descs    string   // the variable of its descriptions
	versions []*event // the oldest first
	layout   *anyLayout
}

// newest returns the newest version of a.
func (a *anyVersion) newest() *event { return a.versions[len(a.versions)-1] }

// embeds reports whether the type for all versions of an event is the type of the
// only one with Seen beside it. It cannot be if the name of that type hides a field or
// a method of it.
func (a *anyVersion) embeds() bool {
	ev := a.newest()
	return len(a.versions) == 1 && !reservedFields[ev.goName] && !slices.ContainsFunc(ev.fields(), func(f *field) bool {
		return ev.goName == f.goName || ev.goName == f.has || ev.goName == f.getter
	})
}

// An anyLayout is the layout of all versions of an event together. Where several events have
// versions with the same templates, the code is written once, for an unexported type that
// theirs convert to.
type anyLayout struct {
	anys   []*anyVersion // those of the events
	goName string        // of the type that they share, or ""
	fields []*anyField
}

// versions returns the versions of the first event, which stand for those of all.
func (l *anyLayout) versions() []*event { return l.anys[0].versions }

// template returns the name of the newest template.
func (l *anyLayout) template() string {
	for _, ev := range slices.Backward(l.versions()) {
		if ev.layout != nil {
			return ev.layout.template.ID
		}
	}
	return ""
}

// An anyField is a field of an anyLayout: that of one or several versions.
type anyField struct {
	name   string // in descriptions
	goName string
	m      *manifest.Field // of the newest version that has it
	kind   kind            // that the type and the value come from
	of     []*field        // by version, nil where it lacks the field
	has    string          // the field that says whether there is one that may be missing
	getter string          // the method that returns it, or ""
}

// in returns the versions among list that have f.
func (f *anyField) in(list []*event) []*event {
	var has []*event
	for i, ev := range list {
		if f.of[i] != nil {
			has = append(has, ev)
		}
	}
	return has
}

// optional reports whether a payload of a version that has f may lack it.
func (f *anyField) optional() bool {
	return slices.ContainsFunc(f.of, func(own *field) bool { return own != nil && own.has != "" })
}

// sure reports whether all payloads of all versions have f.
func (f *anyField) sure() bool { return f.everywhere() && !f.optional() }

// everywhere reports whether all versions have f.
func (f *anyField) everywhere() bool { return !slices.Contains(f.of, nil) }

// own returns the fields of the type itself.
func (l *anyLayout) own() []*field {
	fields := make([]*field, len(l.fields))
	for i, f := range l.fields {
		fields[i] = &field{m: f.m, index: i, goName: f.goName, has: f.has, getter: f.getter, kind: f.kind}
	}
	return fields
}

// addAnyVersions adds a type for all versions of each event.
func (b *builder) addAnyVersions() {
	layouts := make(map[string]*anyLayout) // by the templates of the versions
	for i := 0; i < len(b.events); {
		first := b.events[i]
		templates, from := "", i
		for ; i < len(b.events) && b.events[i].isVersionOf(first); i++ {
			templates += fmt.Sprintf("%d:%p ", b.events[i].m.Version, b.events[i].layout)
		}
		if i == from { // no record leads to it
			i++
			continue
		}
		a := &anyVersion{versions: b.events[from:i:i]}
		for _, ev := range a.versions {
			ev.any = a
		}
		if a.embeds() { // there is little to share
			templates = b.events[from].goName
		}
		if a.layout = layouts[templates]; a.layout == nil {
			a.layout = new(anyLayout)
			layouts[templates] = a.layout
		}
		a.layout.anys = append(a.layout.anys, a)
		b.anys = append(b.anys, a)
	}
	b.nameAnyVersions()
}

// nameAnyVersions settles the names of the types for all versions: those of the
// oldest versions without the number, unless that would be the name of two.
func (b *builder) nameAnyVersions() {
	used := make(map[string]int)
	for _, a := range b.anys {
		used[trimVersion(a.versions[0].goName)]++
	}
	for _, a := range b.anys {
		oldest := a.versions[0]
		name := trimVersion(oldest.goName)
		if used[name] > 1 {
			name = oldest.goName
		}
		a.goName = b.names.pkg.claim(claim{
			what: "the type for all versions of event " + eventTitle(oldest.m),
			key:  b.eventKey(oldest), pos: oldest.m.Pos, name: "Any" + name, derived: true,
		})
		a.descs = b.names.local(unexportedName(a.goName))
	}
}

// mergeVersions finds the fields of the types for all versions. It compares
// their types, and so comes when all of them have their names.
func (b *builder) mergeVersions() {
	for _, a := range b.anys {
		if l := a.layout; l.anys[0] == a {
			l.merge()
			if len(l.anys) > 1 && len(l.fields) > 0 {
				l.goName = b.names.local("any" + exportedName(l.template()) + "Layout")
			}
		}
	}
}

// merge merges the fields of all versions of an event.
//
//  1. The newest version comes first: its fields keep their names and order.
//  2. A field of an older version that has the same name and fits is the same
//     field. Integers fit each other; the widest wins.
//  3. Other fields of older versions follow. One that only shares the name gets
//     the version as a suffix.
func (l *anyLayout) merge() {
	versions := l.versions()
	byName := make(map[string][]*anyField) // by the name in descriptions
	taken := make(map[string]bool)
	for name := range reservedFields {
		taken[name] = true
	}
	for _, ev := range versions {
		for _, f := range ev.fields() {
			taken[f.getter] = true
		}
	}
	getters := make(map[string]bool)
	for i, ev := range slices.Backward(versions) {
		for _, f := range ev.fields() {
			if g := fitting(byName[f.name], i, f); g != nil {
				g.of[i] = f
				g.kind = wider(g.kind, f.kind)
				continue
			}
			g := &anyField{name: f.name, goName: f.goName, m: f.m, kind: f.kind, of: make([]*field, len(versions))}
			g.of[i] = f
			if k, ok := f.kind.(optionalKind); ok {
				g.kind = k.kind
			}
			if !getters[f.getter] {
				g.getter, getters[f.getter] = f.getter, true
			}
			for taken[g.goName] {
				g.goName = fmt.Sprintf("%sV%d", g.goName, ev.m.Version)
			}
			taken[g.goName] = true
			byName[f.name] = append(byName[f.name], g)
			l.fields = append(l.fields, g)
		}
	}
	for _, f := range l.fields {
		// A method tells whether the event has the field, or, if one version does
		// not say, a field does; no other field may be named like it.
		for !f.sure() && taken["Has"+f.goName] {
			delete(taken, f.goName)
			f.goName += "Field"
			taken[f.goName] = true
		}
		if f.optional() {
			f.has = "Has" + f.goName
		}
	}
}

// inOrder reports whether the fields of every version are the first ones of l, in
// the same order.
func (l *anyLayout) inOrder() bool {
	for k, f := range l.fields {
		for i, own := range f.of {
			if own != nil && own.index != k || own == nil && k < len(l.versions()[i].fields()) {
				return false
			}
		}
	}
	return true
}

// fitting returns the field of list that f of version i is another version of.
func fitting(list []*anyField, i int, f *field) *anyField {
	for _, g := range list {
		if g.of[i] == nil && fits(g.kind, f.kind) {
			return g
		}
	}
	return nil
}

// fits reports whether one Go type holds the values of both kinds.
func fits(k, l kind) bool {
	if k.goType() == l.goType() {
		return true
	}
	if s, t := k.members(), l.members(); s != nil && t != nil {
		return isArray(k) == isArray(l) && s.like(t)
	}
	return k.integer().sign != 0 && k.integer().sign == l.integer().sign
}

// wider returns the kind of a field that takes the values of both. new is that
// of a newer version, and stays where it can. Whether old may be missing is not
// its kind's to say: the field itself does.
func wider(new, old kind) kind {
	if o, ok := old.(optionalKind); ok {
		old = o.kind
	}
	if new.integer().bits >= old.integer().bits {
		return new
	}
	n, ok := old.(numberKind)
	if !ok {
		return old
	}
	if e := new.enum(); e == nil || n.values == nil || e.m != n.values.m {
		n.values = nil // which only names what the older version may hold
	}
	return n
}
