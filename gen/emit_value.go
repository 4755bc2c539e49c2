package gen

import "github.com/dave/jennifer/jen"

// emitFieldValue writes FieldValue.
func emitFieldValue(f *jen.File, ev *event) {
	doc(f.Group, "FieldValue returns the value of field i of EventDesc().Fields.")
	l := ev.layout
	switch {
	case l == nil:
		f.Func().Params(jen.Op("*").Id(ev.goName)).Id("FieldValue").Params(jen.Int()).Add(etw("Value")).
			Add(brief(jen.Return(etw("Value").Values())))
	case l.goName != "":
		f.Func().Params(jen.Id("e").Op("*").Id(ev.goName)).Id("FieldValue").Params(jen.Id("i").Int()).Add(etw("Value")).
			Block(jen.Return(l.from("e").Dot("FieldValue").Call(jen.Id("i"))))
	default:
		f.Func().Params(jen.Id("e").Op("*").Id(ev.goName)).Id("FieldValue").Params(jen.Id("i").Int()).Add(etw("Value")).
			BlockFunc(func(g *jen.Group) { valueBody(g, l.code(), l.fields) })
	}
	f.Line()
}

// valueBody writes the statements that return the value of field i.
func valueBody(g *jen.Group, c code, fields []*field) {
	g.Switch(jen.Id("i")).BlockFunc(func(g *jen.Group) {
		for _, f := range fields {
			g.Case(jen.Lit(f.index)).Block(jen.Return(f.kind.value(c, f)))
		}
	})
	g.Return(etw("Value").Values())
}
