package gen

import (
	"github.com/dave/jennifer/jen"
)

// appendParams are the parameters of AppendPayload.
func appendParams(l *layout) []jen.Code {
	ptr := "ptr"
	if l.isFixed() {
		ptr = "_"
	}
	return []jen.Code{id("b").Index().Byte(), id(ptr).Add(rt("PtrSize"))}
}

// emitAppend writes AppendPayload.
func emitAppend(f *jen.File, ev *event) {
	doc(f.Group, "AppendPayload appends the payload of e to b.")
	results := jen.Params(jen.Index().Byte(), jen.Error())
	l := ev.layout
	switch {
	case l.goName != "":
		newMethod(f, star("e", ev.goName), "AppendPayload").
			Params(id("b").Index().Byte(), id("ptr").Add(rt("PtrSize"))).Add(results).
			Add(brief(jen.Return(l.from(id("e")).Dot("append").Call(id("b"), id("ptr"), addr(ev.desc)))))
	default:
		newMethod(f, star("e", ev.goName), "AppendPayload").
			Params(appendParams(l)...).Add(results).
			BlockFunc(func(g *jen.Group) { appendBody(g, l, addr(ev.desc)) })
	}
	f.Line()
}

// appendBody writes the statements that append e to b: directly if nothing can
// fail, or else with a writer.
func appendBody(g *jen.Group, l *layout, desc *jen.Statement) {
	c := l.code()
	if l.isFixed() {
		for _, f := range l.fields {
			g.Id("b").Op("=").Add(f.kind.(fixedKind).appendTo(c.x(f)))
		}
		g.Return(id("b"), jen.Nil())
		return
	}
	g.Id("a").Op(":=").Add(rt("NewAppender")).Call(id("b"), id("ptr"))
	for _, f := range l.fields {
		g.Add(f.kind.write(c, f))
	}
	g.Return(dot("a", "Done").Call(desc.Clone()))
}
