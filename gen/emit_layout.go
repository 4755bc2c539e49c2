package gen

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// from returns x, a pointer to an event's type, as a pointer to the type that events
// of the layout share.
func (l *layout) from(x jen.Code) *jen.Statement {
	return jen.Parens(deref(l.goName)).Call(x)
}

// emitLayout writes the type and the methods that events of one template share.
func emitLayout(f *jen.File, l *layout) {
	doc(f.Group, fmt.Sprintf("%s is the template %s, which several events use.", l.goName, l.template.ID))
	f.Type().Id(l.goName).Id(l.events[0].goName)
	f.Line()
	receiver := func() *jen.Statement { return jen.Func().Params(star("e", l.goName)) }
	f.Add(receiver()).Id("decode").
		Params(append(payloadParams(), id("d").Op("*").Add(rt("EventDesc")))...).
		Params(jen.Int(), jen.Error()).
		BlockFunc(func(g *jen.Group) { decodeBody(g, l, id("d")) })
	f.Line()
	d := "d"
	if l.isFixed() {
		d = "_"
	}
	f.Add(receiver()).Id("append").
		Params(append(appendParams(l), id(d).Op("*").Add(rt("EventDesc")))...).
		Params(jen.Index().Byte(), jen.Error()).
		BlockFunc(func(g *jen.Group) { appendBody(g, l, id("d")) })
	f.Line()
	f.Add(receiver()).Id("FieldValue").Params(id("i").Int()).Add(rt("Value")).
		BlockFunc(func(g *jen.Group) { valueBody(g, l.code(), l.fields) })
	f.Line()
	emitDetach(f, l.goName, l.fields)
	f.Var().Id(l.descs()).Op("=").Add(fieldDescs(l.fields))
	f.Line()
}

// descs returns the variable that holds the descriptions of the fields of a
// layout that events share.
func (l *layout) descs() string { return l.goName + "Fields" }

// code returns where the methods of the events of l stand.
func (l *layout) code() code {
	c := code{recv: "e", fields: dot(l.events[0].desc, "Fields")}
	if l.goName != "" {
		c.fields = id(l.descs())
	}
	return c
}
