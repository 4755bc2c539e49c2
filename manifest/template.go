package manifest

import "fmt"

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
	if again(p, n, "template", t.ID, p.templates, func(t *Template) Pos { return t.Pos }) {
		return
	}
	p.templates[t.ID] = t
	p.prov.Templates = append(p.prov.Templates, t)
}

// A layout is a list of fields in the making: those of a template, or of a
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
	later  map[string]bool   // names of all fields, for those not reached
	bare   map[string]*Field // by name without punctuation, in lenient mode

	// lost is why the layout is unknown from here on, in lenient mode.
	lost string
}

// lose gives up on the layout from the field of n on. It is an error in strict
// mode, where the message says what to do.
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

// giveUp ends a template with an opaque field in the place of the one at n, of
// which declared is what is known, and of all after it.
func (l *layout) giveUp(n *node, declared *Field) {
	l.warn(n, "%s: the rest of the payload is opaque", l.lost)
	f := &Field{
		Pos:    declared.Pos,
		Name:   declared.Name,
		Type:   Opaque,
		Length: Size{Kind: RestSize},
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
	if first, taken := l.byName[f.Name]; taken && f.Name != "" {
		l.strictly(n, "%s has two fields %s, the first at %s; rename one", l.what, quote(f.Name), first.Pos)
	}
	if len(l.fields) > 0 {
		if last := l.fields[len(l.fields)-1]; last.takesRest() {
			l.fail(n, "field %s takes the rest of the payload, so that none can follow it; move it to the end", quote(last.Name))
		}
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

// takesRest reports whether f has no end but that of the payload.
func (f *Field) takesRest() bool {
	return f.Count.Kind == RestSize || f.Length.Kind == RestSize
}

// field reads a field. If it sets l.lost, only what names and documents the
// field is good.
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
	f.Type = Struct
	if !l.top {
		l.fail(n, "struct %s is in a struct; a struct has only data", quote(f.Name))
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
		l.fail(n, "struct %s has no members; add data to it", quote(f.Name))
	}
}

// data reads a data element.
func (l *layout) data(n *node, f *Field) {
	typeName, ok := n.lookup("inType")
	if !ok {
		l.fail(n, "field %s has no inType attribute; add one", quote(f.Name))
		return
	}
	f.Type = inTypeNames[l.qname(n, typeName)]
	if f.Type == NoType {
		l.lose(n, fmt.Sprintf("unknown inType %s of field %s", quote(typeName), quote(f.Name)), l.typeRemedy(typeName))
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
}

// typeRemedy says what to write for an unknown inType.
func (p *parser) typeRemedy(name string) string {
	if name == "win:Struct" {
		return "write a <struct> element"
	}
	if near := nearest(p, name, inTypeNames); near != "" {
		return "did you mean " + near + "?"
	}
	return "write one of those that Windows defines, such as win:UInt32"
}

// lostStruct reports whether f looks like a struct in a dump. Those are written
// by programs that take the index of a struct's first member, which follows the
// fields of the template, for the number of a type.
func (l *layout) lostStruct(f *Field) bool {
	return l.reconstructed && l.top &&
		f.Count.Kind == FieldSize && int(f.Type) == l.declared
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
func (l *layout) outType(n *node, f *Field) OutType {
	name := n.attr("outType")
	if name == "" {
		return OutDefault
	}
	o, known := outTypeNames[l.qname(n, name)]
	switch {
	case known && o != OutErrorCode:
		if f.Type.allows(o) {
			return o
		}
		l.doubt(n, "outType %s of field %s does not go with %s and is ignored; there are %s", name, quote(f.Name), f.Type, outNames(f.Type))
		if l.opts.Lenient {
			return o
		}
	case l.opts.Lenient:
		return looseOutType(name)
	default:
		remedy := "there are " + outNames(f.Type) + " for " + f.Type.String()
		if near := looseOutType(name); f.Type.allows(near) {
			remedy = "did you mean " + near.String() + "?"
		}
		l.doubt(n, "unknown outType %s of field %s is ignored; %s", quote(name), quote(f.Name), remedy)
	}
	return OutDefault
}

// fieldMap reads the map attribute of a field.
func (l *layout) fieldMap(n *node, f *Field) *Map {
	name := n.attr("map")
	if name == "" {
		return nil
	}
	m := l.maps[l.qname(n, name)]
	switch f.Type {
	case UInt8, UInt16, UInt32, HexInt32:
	default:
		l.strictly(n, "field %s of type %s cannot have a map; take win:UInt8, win:UInt16 or win:UInt32", quote(f.Name), f.Type)
		return nil
	}
	if m == nil {
		l.strictly(n, "field %s refers to map %s, which is not declared; declare it in <maps>", quote(f.Name), quote(name))
	}
	return m
}
