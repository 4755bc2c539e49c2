package gen

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// hasViews reports whether decoded fields alias the payload.
func hasViews(fields []*field) bool {
	for _, f := range fields {
		switch k := f.kind.(type) {
		case fixedKind, pointerKind:
		case structKind:
			if hasViews(k.s.fields) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// payloadParams are the parameters of DecodePayload.
func payloadParams() []jen.Code {
	return []jen.Code{jen.Id("p").Index().Byte(), jen.Id("ptr").Add(etw("PtrSize"))}
}

// emitDecode writes DecodePayload.
func emitDecode(f *jen.File, ev *event) {
	text := "DecodePayload sets e from the payload p and returns the number of bytes read."
	if hasViews(ev.fields()) {
		text += " Its views alias p."
	}
	doc(f.Group, text)
	results := jen.Params(jen.Int(), jen.Error())
	l := ev.layout
	switch {
	case l == nil:
		f.Func().Params(jen.Op("*").Id(ev.goName)).Id("DecodePayload").
			Params(jen.Index().Byte(), etw("PtrSize")).Add(results).
			Add(brief(jen.Return(jen.Lit(0), jen.Nil())))
	case l.goName != "":
		f.Func().Params(jen.Id("e").Op("*").Id(ev.goName)).Id("DecodePayload").
			Params(payloadParams()...).Add(results).
			Block(jen.Return(l.from("e").Dot("decode").Call(jen.Id("p"), jen.Id("ptr"), jen.Op("&").Id(ev.desc))))
	default:
		f.Func().Params(jen.Id("e").Op("*").Id(ev.goName)).Id("DecodePayload").
			Params(payloadParams()...).Add(results).
			BlockFunc(func(g *jen.Group) { decodeBody(g, l, jen.Op("&").Id(ev.desc)) })
	}
	f.Line()
}

// from returns a variable of an event's type converted to the type that events
// of the layout share.
func (l *layout) from(name string) *jen.Statement {
	return jen.Parens(jen.Op("*").Id(l.goName)).Call(jen.Id(name))
}

// emitLayout writes the type and the methods that events of one template share.
func emitLayout(f *jen.File, l *layout) {
	doc(f.Group, fmt.Sprintf("%s is the template %s, which several events use.", l.goName, l.template.ID))
	f.Type().Id(l.goName).Id(l.events[0].goName)
	f.Line()
	receiver := func() *jen.Statement { return jen.Func().Params(jen.Id("e").Op("*").Id(l.goName)) }
	f.Add(receiver()).Id("decode").
		Params(append(payloadParams(), jen.Id("d").Op("*").Add(etw("EventDesc")))...).
		Params(jen.Int(), jen.Error()).
		BlockFunc(func(g *jen.Group) { decodeBody(g, l, jen.Id("d")) })
	f.Line()
	d := "d"
	if l.isFixed() {
		d = "_"
	}
	f.Add(receiver()).Id("append").
		Params(append(appendParams(l), jen.Id(d).Op("*").Add(etw("EventDesc")))...).
		Params(jen.Index().Byte(), jen.Error()).
		BlockFunc(func(g *jen.Group) { appendBody(g, l, jen.Id("d")) })
	f.Line()
	f.Add(receiver()).Id("FieldValue").Params(jen.Id("i").Int()).Add(etw("Value")).
		BlockFunc(func(g *jen.Group) { valueBody(g, l.code(), l.fields) })
	f.Line()
	f.Var().Id(l.descs()).Op("=").Add(fieldDescs(l.fields))
	f.Line()
}

// descs returns the variable that holds the descriptions of the fields of a
// layout that events share.
func (l *layout) descs() string { return l.goName + "Fields" }

// code returns where the methods of the events of l stand.
func (l *layout) code() code {
	c := code{recv: "e", fields: jen.Id(l.events[0].desc).Dot("Fields")}
	if l.goName != "" {
		c.fields = jen.Id(l.descs())
	}
	return c
}

// decodeBody writes the statements that set e from p: the prefix after one
// comparison, then the rest by cursor.
func decodeBody(g *jen.Group, l *layout, desc *jen.Statement) {
	c := l.code()
	if l.prefix > 0 {
		g.If(jen.Len(jen.Id("p")).Op("<").Lit(l.prefixSize)).Block(
			jen.Return(jen.Lit(0), etw("Short").Call(desc.Clone(), jen.Id("p"), jen.Id("ptr"))),
		)
	}
	for _, f := range l.fields[:l.prefix] {
		g.Add(c.set(f, f.kind.(fixedKind).load(f.offset)))
	}
	if l.isFixed() {
		g.Return(jen.Lit(l.prefixSize), jen.Nil())
		return
	}
	g.Id("r").Op(":=").Add(etw("NewReader")).Call(jen.Id("p"), jen.Lit(l.prefixSize), jen.Id("ptr"))
	for _, f := range l.fields[l.prefix:] {
		g.Add(f.kind.read(c, f))
	}
	g.Return(jen.Id("r").Dot("Done").Call(desc.Clone()))
}
