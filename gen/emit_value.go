package gen

import "github.com/dave/jennifer/jen"

// emitFieldValue writes FieldValue.
func emitFieldValue(f *jen.File, ev *event) {
	doc(f.Group, "FieldValue returns the value of field i of EventDesc().Fields.")
	l := ev.layout
	switch {
	case l.goName != "":
		newMethod(f, star("e", ev.goName), "FieldValue").Params(id("i").Int()).Add(rt("Value")).
			Add(brief(jen.Return(l.from(id("e")).Dot("FieldValue").Call(id("i")))))
	default:
		newMethod(f, star("e", ev.goName), "FieldValue").Params(id("i").Int()).Add(rt("Value")).
			BlockFunc(func(g *jen.Group) { valueBody(g, l.code(), l.fields) })
	}
	f.Line()
}

// valueBody writes the statements that return the value of field i.
func valueBody(g *jen.Group, c code, fields []*field) {
	g.Switch(id("i")).BlockFunc(func(g *jen.Group) {
		for _, f := range fields {
			value := jen.Code(jen.Return(f.kind.value(c, f)))
			if f.has != "" {
				value = jen.If(c.has(f)).Block(value)
			}
			g.Case(jen.Lit(f.index)).Block(value)
		}
	})
	g.Return(rt("Value").Values())
}
