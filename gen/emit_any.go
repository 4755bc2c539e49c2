package gen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// emitAny writes the type that takes every version of an event.
func emitAny(f *jen.File, a *anyVersion) {
	l := a.layout
	doc(f.Group, a.doc()...)
	if a.embeds() {
		emitEmbedding(f, a)
		return
	}
	f.Type().Id(a.goName).StructFunc(func(g *jen.Group) {
		g.Id("Seen").Add(rt("Seen"))
		if len(l.fields) > 0 {
			g.Line()
		}
		for _, fd := range l.fields {
			text, see := fd.doc()
			emitField(g, fd.goName, fd.kind.goType(), text, append(fd.notes(a.versions), see...))
			if fd.has != "" {
				emitHasField(g, fd.has, fd.goName)
			}
		}
	})
	f.Line()
	emitHas(f, a)
	emitGetters(f, a.goName, l.own())
	emitAnyDescs(f, a)
	emitDecodeVersion(f, a)
	emitAnyValue(f, a)
	if l.goName != "" && aliases(l.own()) {
		emitClone(f, a.goName, l.from(addr("e")).Dot("detach").Call())
	} else {
		emitClone(f, a.goName, detach("e", l.own())...)
	}
	emitRendering(f, a.goName)
	emitAnyJSON(f, a)
}

// emitAnyJSON writes MarshalJSON. All types for all versions have it, so that JSON of an
// event stays the same when it gains a second version.
func emitAnyJSON(f *jen.File, a *anyVersion) {
	doc(f.Group, "MarshalJSON returns the fields that the decoded version has.")
	newMethod(f, id("e").Id(a.goName), "MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).
		Add(brief(jen.Return(rt("AppendJSON").Call(jen.Nil(), addr("e")))))
	f.Line()
}

// from returns x, a pointer to one of the types that share l, as a pointer to the
// one that has the code.
func (l *anyLayout) from(x jen.Code) *jen.Statement {
	return jen.Parens(deref(l.goName)).Call(x)
}

// emitHas writes the methods that tell whether a version has a field.
func emitHas(f *jen.File, a *anyVersion) {
	for _, fd := range a.layout.fields {
		if fd.everywhere() || fd.has != "" {
			continue
		}
		doc(f.Group, fmt.Sprintf("Has%s reports whether the decoded version has %[1]s.", fd.goName))
		layout := func() *jen.Statement { return dot("e", "Seen").Dot("Layout") }
		cond := jen.Null()
		in := fd.in(a.versions)
		if tail := a.versions[len(a.versions)-len(in):]; slices.Equal(in, tail) {
			cond = layout().Op(">=").Lit(int(in[0].m.Version))
		} else {
			for i, ev := range in {
				if i > 0 {
					cond.Op("||")
				}
				cond.Add(layout().Op("==").Lit(int(ev.m.Version)))
			}
		}
		newMethod(f, star("e", a.goName), "Has"+fd.goName).Params().Bool().Add(brief(jen.Return(cond)))
		f.Line()
	}
}

// emitAnyDescs writes EventDesc and EventDescs.
func emitAnyDescs(f *jen.File, a *anyVersion) {
	descs := each.Of(a.versions, func(ev *event) part { return addressPart(ev.desc) })
	head := part{width: len("var  = []*etw.EventDesc{}") + len(a.descs)}
	values := jen.Values // on the line of the variable, if they fit
	if len(fold(append([]part{head}, descs...)...)) > 1 {
		values = lines
	}
	f.Var().Id(a.descs).Op("=").Index().Op("*").Add(rt("EventDesc")).Add(values(fold(descs...)...))
	f.Line()
	doc(f.Group, "EventDescs returns the known versions, the oldest first.")
	newMethod(f, deref(a.goName), "EventDescs").Params().Index().Op("*").Add(rt("EventDesc")).
		Add(brief(jen.Return(id(a.descs))))
	f.Line()
	doc(f.Group, "EventDesc returns the version that was decoded.")
	newMethod(f, star("e", a.goName), "EventDesc").Params().Op("*").Add(rt("EventDesc")).
		Add(brief(jen.Return(a.desc())))
	f.Line()
}

// desc returns the description of the version that e was decoded from.
func (a *anyVersion) desc() *jen.Statement {
	return rt("DescOf").Call(id(a.descs), dot("e", "Seen"))
}

// emitDecodeVersion writes DecodeVersion: it decodes the type of the version and
// copies its fields.
func emitDecodeVersion(f *jen.File, a *anyVersion) {
	params := versionParams()
	text := "DecodeVersion sets e from the payload p of a version and returns how many bytes it read."
	if len(a.layout.fields) == 0 {
		params = []jen.Code{id("version").Uint8(), id("_").Index().Byte(), id("_").Add(rt("PtrSize"))}
		text = "DecodeVersion sets e. No version has a payload."
	}
	doc(f.Group, text)
	newMethod(f, star("e", a.goName), "DecodeVersion").Params(params...).
		Params(id("n").Int(), jen.Err().Error()).
		BlockFunc(func(g *jen.Group) {
			if l := a.layout; l.goName != "" {
				g.Return(l.from(id("e")).Dot("decode").Call(id("version"), id("p"), id("ptr"), id(a.descs)))
				return
			}
			eachVersion(g, a.versions, func(i int) []jen.Code {
				ev := a.versions[i]
				decode := dot("v", "DecodePayload").Call(id("p"), id("ptr"))
				return anyCopy(a.layout, a.goName, i, ev.goName, decode)
			})
		})
	f.Line()
}

func versionParams() []jen.Code {
	return append([]jen.Code{id("version").Uint8()}, payloadParams()...)
}

// eachVersion writes statements for the version that is decoded: the newest one
// that is not newer than the one that was logged, or else the oldest.
func eachVersion(g *jen.Group, versions []*event, statements func(i int) []jen.Code) {
	if len(versions) > 1 {
		g.Switch().BlockFunc(func(g *jen.Group) {
			for i, ev := range slices.Backward(versions) {
				if i > 0 {
					g.Case(id("version").Op(">=").Lit(int(ev.m.Version))).Block(statements(i)...)
				} else {
					g.Default().Block(statements(i)...)
				}
			}
		})
	} else {
		for _, statement := range statements(0) {
			g.Add(statement)
		}
	}
	g.Return(id("n"), jen.Err())
}

// anyCopy returns the statements that decode version i as the type named from,
// and copy it to e, whose type is named to. They do so field by field: a literal
// of the type would be made elsewhere and then copied in larger pieces, which have
// to wait for the smaller ones that were just written.
func anyCopy(l *anyLayout, to string, i int, from string, decode *jen.Statement) []jen.Code {
	ev := l.versions()[i]
	seen := rt("Seen").Values(key("Version", id("version")), key("Layout", jen.Lit(int(ev.m.Version))))
	if len(ev.fields()) == 0 {
		return []jen.Code{deref("e").Op("=").Id(to).Values(key("Seen", seen))}
	}
	statements := []jen.Code{
		jen.Var().Id("v").Id(from),
		jen.List(id("n"), jen.Err()).Op("=").Add(decode),
	}
	if slices.ContainsFunc(l.fields, func(fd *anyField) bool { return fd.of[i] == nil }) {
		statements = append(statements, deref("e").Op("=").Id(to).Values())
	}
	set := func(field string, x jen.Code) {
		statements = append(statements, dot("e", field).Op("=").Add(x))
	}
	set("Seen", seen)
	for _, fd := range l.fields {
		own := fd.of[i]
		if own == nil {
			continue
		}
		x := dot("v", own.goName)
		if t := fd.kind.goType(); t != own.kind.goType() {
			x = t.code().Call(x)
		}
		set(fd.goName, x)
		if fd.has != "" {
			has := jen.True()
			if own.has != "" {
				has = dot("v", own.has)
			}
			set(fd.has, has)
		}
	}
	return statements
}

// emitAnyValue writes FieldValue.
func emitAnyValue(f *jen.File, a *anyVersion) {
	doc(f.Group, "FieldValue returns the value of field i of EventDesc().Fields.")
	method := func(receiver string, i string) *jen.Statement {
		return newMethod(f, star(receiver, a.goName), "FieldValue").Params(id(i).Int()).Add(rt("Value"))
	}
	switch l := a.layout; {
	case len(l.fields) == 0:
		newMethod(f, deref(a.goName), "FieldValue").Params(jen.Int()).Add(rt("Value")).Add(brief(jen.Return(rt("Value").Values())))
	case l.goName != "":
		method("e", "i").Add(brief(jen.Return(l.from(id("e")).Dot("FieldValue").Call(id("i")))))
	default:
		method("e", "i").BlockFunc(func(g *jen.Group) { anyValueBody(g, l) })
	}
	f.Line()
}

// anyValueBody writes the statements that return the value of field i of the
// decoded version. They find it by its place where all versions agree on those,
// and else by the name that its description gives it.
func anyValueBody(g *jen.Group, l *anyLayout) {
	if versions := l.versions(); len(versions) == 1 {
		valueBody(g, versions[0].layout.code(), l.own())
		return
	}
	c := code{recv: "e", fields: id("fields"), found: id("i")}
	g.Id("fields").Op(":=").Add(l.anys[0].desc()).Dot("Fields")
	g.If(jen.Uint().Call(id("i")).Op(">=").Uint().Call(jen.Len(id("fields")))).Block(
		jen.Return(rt("Value").Values()),
	)
	if l.inOrder() {
		g.Switch(id("i")).BlockFunc(func(g *jen.Group) {
			for k, fd := range l.fields {
				g.Case(jen.Lit(k)).BlockFunc(func(g *jen.Group) { fd.value(g, c) })
			}
		})
	} else {
		g.Switch(id("fields").Index(id("i")).Dot("Name")).BlockFunc(func(g *jen.Group) {
			done := make(map[string]bool)
			for _, fd := range l.fields {
				if !done[fd.name] {
					done[fd.name] = true
					g.Case(jen.Lit(fd.name)).BlockFunc(func(g *jen.Group) { valueByName(g, c, l, fd.name) })
				}
			}
		})
	}
	g.Return(rt("Value").Values())
}

// valueByName writes the statements that return the value that versions call name, which
// need not be one field.
func valueByName(g *jen.Group, c code, l *anyLayout, name string) {
	var same []*anyField
	for _, fd := range l.fields {
		if fd.name == name {
			same = append(same, fd)
		}
	}
	for _, fd := range same[1:] {
		var is *jen.Statement
		for i, own := range fd.of {
			if own == nil {
				continue
			}
			version := dot("e", "Seen").Dot("Layout").Op("==").Lit(int(l.versions()[i].m.Version))
			if same[0].of[i] != nil { // one version has several fields of that name
				version.Op("&&").Id("i").Op("==").Lit(own.index)
			}
			if is == nil {
				is = version
			} else {
				is.Op("||").Add(version)
			}
		}
		g.If(is).BlockFunc(func(g *jen.Group) { fd.value(g, c) })
	}
	same[0].value(g, c)
}

// value writes the statements that return f as an etw.Value, which is of the kind
// that the description of the decoded version says.
func (f *anyField) value(g *jen.Group, c code) {
	if f.has != "" {
		g.If(jen.Op("!").Add(dot(c.recv, f.has))).Block(jen.Return(rt("Value").Values()))
	}
	own := &field{m: f.m, goName: f.goName}
	pointers, numbers := false, false
	for _, of := range f.of {
		if of != nil {
			pointers = pointers || of.inType == etw.InPointer
			numbers = numbers || of.inType != etw.InPointer
		}
	}
	if !pointers || !numbers {
		g.Return(f.kind.value(c, own))
		return
	}
	g.If(c.fields.Clone().Index(c.found).Dot("Type").Op("==").Add(rt("InPointer"))).Block(
		jen.Return(rt("PointerValue").Call(rt("Pointer").Call(c.x(own)))),
	)
	g.Return(rt("UintValue").Call(jen.Uint64().Call(c.x(own))))
}

// emitAnyLayout writes the type and the methods that types for all versions share.
func emitAnyLayout(f *jen.File, l *anyLayout) {
	doc(f.Group, fmt.Sprintf("%s is the common part of types for all versions of an event, the newest of which has the template %s.", l.goName, l.template()))
	f.Type().Id(l.goName).Id(l.anys[0].goName)
	f.Line()
	receiver := func() *jen.Statement { return f.Func().Params(star("e", l.goName)) }
	params := append(versionParams(), id("d").Index().Op("*").Add(rt("EventDesc")))
	receiver().Id("decode").Params(params...).Params(id("n").Int(), jen.Err().Error()).
		BlockFunc(func(g *jen.Group) {
			versions := l.versions()
			eachVersion(g, versions, func(i int) []jen.Code {
				from := ""
				if own := versions[i].layout; own != nil {
					from = own.goName
				}
				decode := dot("v", "decode").Call(id("p"), id("ptr"), id("d").Index(jen.Lit(i)))
				return anyCopy(l, l.goName, i, from, decode)
			})
		})
	f.Line()
	receiver().Id("FieldValue").Params(id("i").Int()).Add(rt("Value")).
		BlockFunc(func(g *jen.Group) { anyValueBody(g, l) })
	f.Line()
	emitDetach(f, l.goName, l.own())
}

// emitEmbedding writes the type for all versions of an event that has one. That has
// most of the methods; the others are those that are not the same for both.
func emitEmbedding(f *jen.File, a *anyVersion) {
	ev := a.newest()
	f.Type().Id(a.goName).Struct(id("Seen").Add(rt("Seen")), id(ev.goName))
	f.Line()
	version := jen.Lit(int(ev.m.Version))
	doc(f.Group, "DecodeVersion sets e from the payload p of any version and returns how many bytes it read.")
	newMethod(f, star("e", a.goName), "DecodeVersion").Params(versionParams()...).Params(jen.Int(), jen.Error()).Block(
		dot("e", "Seen").Op("=").Add(rt("Seen")).Values(key("Version", id("version")), key("Layout", version)),
		jen.Return(dot("e", ev.goName).Dot("DecodePayload").Call(id("p"), id("ptr"))),
	)
	f.Line()
	emitClone(f, a.goName, ev.detach(addr("e").Dot(ev.goName))...)
	emitAnyJSON(f, a)
}
