package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"maps"

	"github.com/etwgen/etwgen/runtime/etw"
)

// template reads a template.
func (p *providerParser) template(n *node) {
	t := &Template{Pos: p.pos(n.at), ID: p.required(n, "tid")}
	t.Doc, t.GoName = p.docName(n)
	l := &layout{providerParser: p, what: "template " + quote(t.ID), top: true}
	for range n.children("data", "struct") {
		l.declared++
	}
	t.Declared = l.declared
	t.Fields = l.read(n)
	if p.prov.SelfDescribing {
		t.Fields = selfDescribing(t.Fields)
		t.Declared = len(t.Fields)
	}
	t.UserData = userData(n)
	if again(p, n, "template", t.ID, p.templates, func(t *Template) Pos { return t.Pos }) {
		return
	}
	p.templates[t.ID] = t
	p.prov.Templates = append(p.prov.Templates, t)
}

// A layout is a list of fields under construction: those of a template, or of a
// struct in one.
type layout struct {
	*providerParser
	what     string // in messages
	top      bool   // the fields of a template
	declared int    // how many fields the template has
	last     *node  // the last field
	outer    *layout

	fields []*Field
	byName map[string]*Field
	later  map[string]bool   // names of all fields, also of those still to come
	bare   map[string]*Field // by name without punctuation, in lenient mode

	// lost is why the layout is unknown from here on, in lenient mode.
	lost string
}

// lose gives up on the layout, beginning with the field at n. In strict mode it is
// an error, with a remedy.
func (l *layout) lose(n *node, what, remedy string) {
	if !l.opts.Lenient {
		l.fail(n, "%s; %s", what, remedy)
		return
	}
	l.lost = what
}

// read reads the fields within n.
func (l *layout) read(n *node) []*Field {
	l.byName = make(map[string]*Field)
	l.later = make(map[string]bool)
	for c := range n.children("data", "struct") {
		l.later[c.attr("name")] = true
		l.last = c
	}
	for c := range n.children("data", "struct") {
		f := l.field(c)
		if l.lost != "" {
			if l.top {
				l.giveUp(c, f)
			}
			return l.fields
		}
		l.add(c, f)
	}
	return l.fields
}

// giveUp ends a template with an opaque field that replaces the one at n and all after it.
// declared is the known part of the first.
func (l *layout) giveUp(n *node, declared *Field) {
	l.warn(n, "%s: the rest of the payload is opaque", l.lost)
	f := &Field{
		Pos:    declared.Pos,
		Name:   declared.Name,
		Type:   Opaque,
		Length: Size{Kind: etw.SizeRest},
		Doc:    declared.Doc,
		GoName: declared.GoName,
		Opaque: l.lost,
	}
	for c := n; c != nil; c = c.next {
		if c.vocab == events && (c.el.Tag == "data" || c.el.Tag == "struct") {
			f.Lost = append(f.Lost, c.attr("name"))
		}
	}
	l.fields = append(l.fields, f)
}

// add enters a field, so that later ones can refer to it.
func (l *layout) add(n *node, f *Field) {
	switch first, taken := l.byName[f.Name]; {
	case !taken || f.Name == "":
	case l.prov.EventSource:
		// (byte[] data, int dataSize) makes a dataSize of its own for data.
		l.note(n, "%s has two fields named %s, the first at %s", l.what, quote(f.Name), first.Pos)
	default:
		l.strictly(n, "%s has two fields named %s, the first at %s; rename one of them", l.what, quote(f.Name), first.Pos)
	}
	if len(l.fields) > 0 {
		l.checkAfter(n, l.fields[len(l.fields)-1], f)
	}
	l.fields = append(l.fields, f)
	l.byName[f.Name] = f
	if l.opts.Lenient {
		if l.bare == nil {
			l.bare = make(map[string]*Field)
		}
		l.bare[bareName(f.Name)] = f
	}
}

// checkAfter checks that field f can follow another one.
func (l *layout) checkAfter(n *node, last, f *Field) {
	if last.takesRest() {
		l.fail(n, "field %s takes the rest of the payload, so no field can follow it; move it to the end", quote(last.Name))
	}
	if last.When.Left > 0 && f.When.Left == 0 {
		l.fail(n, "field %s may be missing, so that field %s after it needs an etwgen:when of rest, too", quote(last.Name), quote(f.Name))
	}
}

// takesRest reports whether f extends to the end of the payload.
func (f *Field) takesRest() bool {
	return f.Count.Kind == etw.SizeRest || f.Length.Kind == etw.SizeRest
}

// field reads a field. If it sets l.lost, only the name and the documentation of
// the field are valid.
func (l *layout) field(n *node) *Field {
	f := &Field{Pos: l.pos(n.at), Name: l.required(n, "name")}
	f.Doc, f.GoName = l.docName(n)
	if n.el.Tag == "struct" {
		l.structure(n, f)
	} else {
		l.data(n, f)
	}
	return f
}

// structure reads a struct.
func (l *layout) structure(n *node, f *Field) {
	f.Type = etw.InStruct
	if !l.top {
		l.fail(n, "struct %s is inside a struct; a struct can only hold data elements", quote(f.Name))
		return
	}
	if _, ok := n.lookup("length"); ok {
		l.fail(n, "struct %s has a length; use count for the number of elements", quote(f.Name))
	}
	f.Count = l.count(n, f)
	if l.lost != "" {
		return
	}
	members := &layout{providerParser: l.providerParser, what: "struct " + quote(f.Name), outer: l}
	f.Fields = members.read(n)
	l.lost = members.lost
	if l.lost == "" && len(f.Fields) == 0 {
		l.fail(n, "struct %s has no members; add data elements to it", quote(f.Name))
	}
}

// data reads a data element.
func (l *layout) data(n *node, f *Field) {
	typeName, ok := n.lookup("inType")
	if !ok {
		l.fail(n, "field %s has no inType attribute; add one", quote(f.Name))
		return
	}
	if reason, ok := n.extension("opaque"); ok {
		if reason == "" {
			l.fail(n, "etwgen:opaque of field %s is empty; say why the layout is unknown from here", quote(f.Name))
		}
		l.lost = cmp.Or(reason, "unknown")
		return
	}
	f.Type = inTypeNames[l.qname(n, typeName)]
	if actual, ok := n.extension("inType"); ok {
		if f.Type = extensionTypes[actual]; f.Type == etw.InNull {
			l.fail(n, "unknown etwgen:inType %s of field %s; there are only wbemsid, bool8, varint and varuint", quote(actual), quote(f.Name))
			return
		}
	}
	if f.Type == etw.InNull && !l.misbound(n, typeName) {
		l.lose(n, fmt.Sprintf("unknown inType %s of field %s", quote(typeName), quote(f.Name)), l.typeRemedy(typeName))
	}
	if f.Type == etw.InNull {
		return
	}
	f.OutType = l.outType(n, f)
	f.Map = l.fieldMap(n, f)
	f.Count = l.count(n, f)
	if l.lost != "" {
		return
	}
	if l.lostStruct(f) {
		l.lost = fmt.Sprintf("field %s is probably a struct: %s has the number %d, which is the index that a dump gives a struct here",
			quote(f.Name), f.Type, uint8(f.Type))
		return
	}
	f.Length = l.length(n, f)
	f.When = l.when(n, f)
}

// typeRemedy names the remedy for an unknown inType.
func (p *parser) typeRemedy(name string) string {
	if name == "win:Struct" {
		return "write a <struct> element"
	}
	if near := p.nearest(name, maps.Keys(inTypeNames)); near != "" {
		return didYouMean(near)
	}
	return "use one that Windows defines, such as win:UInt32"
}

// lostStruct reports whether f looks like a struct in a dump. The programs that
// write dumps mistake the index of a struct's first member, which follows the
// fields of the template, for the number of a type.
func (l *layout) lostStruct(f *Field) bool {
	return l.reconstructed && l.top &&
		f.Count.Kind == etw.SizeField && int(f.Type) == l.declared
}

// isReconstructed reports whether a provider may come from a dump of registered
// ones: dumps have no structs, no constant sizes, and nothing about the
// rendering of fields.
func isReconstructed(provider *node) bool {
	for s := range provider.children("templates") {
		for t := range s.children("template") {
			for f := range t.children("data", "struct") {
				if f.el.Tag == "struct" || f.attr("outType") != "" || isConstant(f.attr("count")) || isConstant(f.attr("length")) {
					return false
				}
			}
		}
	}
	return true
}

func isConstant(size string) bool {
	_, ok := parseNumber(size, 64)
	return ok
}

// outType reads the outType attribute of a field.
func (l *layout) outType(n *node, f *Field) etw.OutType {
	name := n.attr("outType")
	if name == "" {
		return etw.OutDefault
	}
	o, known := etw.ParseOutType(l.qname(n, name))
	switch {
	case known && o != etw.OutErrorCode:
		if slices.Contains(outTypes[f.Type], o) {
			return o
		}
		l.doubt(n, "outType %s of field %s does not fit %s and is ignored; choose from %s", name, quote(f.Name), f.Type, outNames(f.Type))
		if l.opts.Lenient {
			return o
		}
	case l.opts.Lenient:
		return looseOutType(name)
	case l.misbound(n, name):
	default:
		remedy := "for " + f.Type.String() + " choose from " + outNames(f.Type)
		if near := looseOutType(name); slices.Contains(outTypes[f.Type], near) {
			remedy = didYouMean(near.String())
		}
		l.doubt(n, "unknown outType %s of field %s is ignored; %s", quote(name), quote(f.Name), remedy)
	}
	return etw.OutDefault
}

// fieldMap reads the map attribute of a field.
func (l *layout) fieldMap(n *node, f *Field) *Map {
	name := n.attr("map")
	if name == "" {
		return nil
	}
	m := l.maps[l.qname(n, name)]
	switch f.Type {
	case etw.InUInt8, etw.InUInt16, etw.InUInt32, etw.InHexInt32:
	default:
		l.strictly(n, "field %s of type %s cannot have a map; use win:UInt8, win:UInt16 or win:UInt32", quote(f.Name), f.Type)
		return nil
	}
	if m == nil {
		l.undefined(n, "field "+quote(f.Name), "map", name, "it is ignored", maps.Keys(l.maps))
	}
	return m
}
