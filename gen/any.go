package gen

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/manifest"
)

// An anyVersion is the type that takes every version of an id.
type anyVersion struct {
	goName   string   // AnyGCStart
	descs    string   // the variable of its descriptions
	versions []*event // the oldest first
	fields   []*anyField
}

// An anyField is a field of an anyVersion: that of one or several versions.
type anyField struct {
	goName string
	m      *manifest.Field // of the newest version that has it
	kind   kind            // that the type and the value come from
	of     map[*event]*field
}

// in returns the versions of a that have f, the oldest first.
func (f *anyField) in(a *anyVersion) []*event {
	var list []*event
	for _, ev := range a.versions {
		if f.of[ev] != nil {
			list = append(list, ev)
		}
	}
	return list
}

// everywhere reports whether all versions of a have f.
func (f *anyField) everywhere(a *anyVersion) bool { return len(f.of) == len(a.versions) }

// addAnyVersions adds a type for each id that has several versions.
func (b *builder) addAnyVersions() {
	for i := 0; i < len(b.events); {
		j := i + 1
		for j < len(b.events) && b.events[j].m.ID == b.events[i].m.ID && b.events[j].m.Undispatched == "" {
			j++
		}
		if j-i > 1 && b.events[i].m.Undispatched == "" {
			b.anys = append(b.anys, b.anyVersion(slices.Clone(b.events[i:j])))
		}
		i = j
	}
}

// anyVersion merges the fields of all versions of an id.
//
//  1. The newest version comes first: its fields keep their names and order.
//  2. A field of an older version that has the same name and fits is the same
//     field. Integers fit each other; the widest wins.
//  3. Other fields of older versions follow. One that only shares the name gets
//     the version as a suffix.
func (b *builder) anyVersion(versions []*event) *anyVersion {
	oldest := versions[0]
	a := &anyVersion{versions: versions}
	a.goName = b.names.pkg.claim(claim{
		what: fmt.Sprintf("the type for all versions of event %s", oldest.m.Symbol),
		key:  b.eventKey(oldest), pos: oldest.m.Pos, name: "Any" + trimVersion(oldest.goName), derived: true,
	})
	a.descs = b.names.local(unexportedName(a.goName))
	byName := make(map[string][]*anyField) // by the manifest's name
	taken := make(map[string]bool)
	for name := range reservedFields {
		taken[name] = true
	}
	for _, ev := range slices.Backward(versions) {
		for _, f := range ev.fields() {
			if g := fitting(byName[f.m.Name], ev, f); g != nil {
				g.of[ev] = f
				g.kind = wider(g.kind, f.kind)
				continue
			}
			g := &anyField{goName: f.goName, m: f.m, kind: f.kind, of: map[*event]*field{ev: f}}
			for taken[g.goName] {
				g.goName = fmt.Sprintf("%sV%d", g.goName, ev.m.Version)
			}
			taken[g.goName] = true
			byName[f.m.Name] = append(byName[f.m.Name], g)
			a.fields = append(a.fields, g)
		}
	}
	for _, f := range a.fields {
		// A method tells whether the event has the field; no field may be
		// named like it.
		for !f.everywhere(a) && taken["Has"+f.goName] {
			delete(taken, f.goName)
			f.goName += "_"
			taken[f.goName] = true
		}
	}
	return a
}

// fitting returns the field of list that f of version ev is another version of.
func fitting(list []*anyField, ev *event, f *field) *anyField {
	for _, g := range list {
		if g.of[ev] == nil && fits(g.kind, f.kind) {
			return g
		}
	}
	return nil
}

// fits reports whether one Go type holds the values of both kinds.
func fits(k, l kind) bool {
	if integer(k) != 0 && integer(k) == integer(l) {
		return true
	}
	return fmt.Sprintf("%#v", k.goType()) == fmt.Sprintf("%#v", l.goType())
}

// integer returns 'u' for unsigned integers and addresses, 's' for signed
// integers, and 0 for all else.
func integer(k kind) byte {
	switch k := k.(type) {
	case numberKind:
		switch k.wide {
		case "uint64":
			return 'u'
		case "int64":
			return 's'
		}
	case pointerKind:
		return 'u'
	}
	return 0
}

// wider returns the kind of a field that takes the values of both. new is that
// of a newer version, and stays where it can.
func wider(new, old kind) kind {
	if integer(new) == 0 || bits(new) >= bits(old) {
		return new
	}
	n, ok := old.(numberKind)
	if !ok {
		return old
	}
	n.enum = nil
	return n
}

func bits(k kind) int {
	if n, ok := k.(numberKind); ok {
		return 8 * n.bytes
	}
	return 64
}
