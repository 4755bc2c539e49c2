package gen

import (
	"github.com/dave/jennifer/jen"
)

// detach returns the statements that replace the views among the fields of x by
// copies of their own.
func detach(x string, fields []*field) []jen.Code {
	var list []jen.Code
	for _, f := range fields {
		if f.kind.aliases() {
			list = append(list, dot(x, f.goName).Op("=").Id(x).Dot(f.goName).Dot("Clone").Call())
		}
	}
	return list
}

// detach returns the statements that replace the views in e by copies of their own, where x
// points to the part of e of the type of ev.
func (ev *event) detach(x jen.Code) []jen.Code {
	if l := ev.layout; l != nil && l.goName != "" && aliases(l.fields) {
		return []jen.Code{l.from(x).Dot("detach").Call()}
	}
	return detach("e", ev.fields())
}

// emitClone writes the method that copies an event. Its receiver is a copy
// already; the given statements replace the views in it.
func emitClone(f *jen.File, name string, detach ...jen.Code) {
	text := "Clone returns a copy of e."
	if len(detach) > 0 {
		text = "Clone returns a copy of e that shares no memory with the payload."
	}
	doc(f.Group, text)
	head := newMethod(f, id("e").Id(name), "Clone").Params().Op("*").Id(name)
	result := jen.Return(addr("e"))
	if len(detach) == 0 {
		head.Add(brief(result))
	} else {
		head.Block(append(detach, result)...)
	}
	f.Line()
}

// emitStructClone writes the method that copies a struct of an event.
func emitStructClone(f *jen.File, s *structType) {
	statements := detach("v", s.fields)
	text := "Clone returns v, which is a copy."
	if len(statements) > 0 {
		text = "Clone returns a copy of v that shares no memory with the payload."
	}
	doc(f.Group, text)
	head := newMethod(f, id("v").Id(s.goName), "Clone").Params().Id(s.goName)
	result := jen.Return(id("v"))
	if len(statements) == 0 {
		head.Add(brief(result))
	} else {
		head.Block(append(statements, result)...)
	}
	f.Line()
}

// emitRendering writes the method that shows an event. It is that of the value, so that it
// makes no difference whether it or a pointer to it is shown. Other forms come from etw.Show,
// by the description.
func emitRendering(f *jen.File, name string) {
	newMethod(f, id("e").Id(name), "String").Params().String().
		Add(brief(jen.Return(jen.String().Call(rt("AppendText").Call(jen.Nil(), addr("e"))))))
	f.Line()
}

// emitStructRendering is emitRendering for a struct of an event.
func emitStructRendering(f *jen.File, s *structType) {
	newMethod(f, id("v").Id(s.goName), "String").Params().String().
		Add(brief(jen.Return(rt("StructValue").Call(jen.Op("&").Add(s.desc()), addr("v")).Dot("String").Call())))
	f.Line()
}

// emitViewCopy writes the methods that copy and show an array of structs, as the
// arrays of the runtime are.
func emitViewCopy(f *jen.File, s *structType) {
	receiver := func() *jen.Statement { return f.Func().Params(id("s").Id(s.view)) }
	doc(f.Group, "Clone returns a copy of s that shares no memory with the payload.")
	receiver().Id("Clone").Params().Id(s.view).Block(
		dot("s", "p").Op("=").Qual("bytes", "Clone").Call(dot("s", "p")),
		jen.Return(id("s")),
	)
	f.Line()
	all := func() *jen.Statement { return dot("s", "All").Call() }
	receiver().Id("String").Params().String().Add(brief(jen.Return(rt("ElementsText").Call(all()))))
	f.Line()
	doc(f.Group, "MarshalJSON returns the elements as an array.")
	receiver().Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).Add(brief(jen.Return(rt("ElementsJSON").Call(all()))))
	f.Line()
}

// emitDetach writes the method by which types that share a layout replace their
// views.
func emitDetach(f *jen.File, goName string, fields []*field) {
	statements := detach("e", fields)
	if len(statements) == 0 {
		return
	}
	newMethod(f, star("e", goName), "detach").Params().Block(statements...)
	f.Line()
}
