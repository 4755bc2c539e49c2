package gen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
)

// emitEvent writes the type of an event, its methods and its description.
func emitEvent(f *jen.File, ev *event) {
	doc(f.Group, ev.doc()...)
	if ev.layout == nil {
		emitEmptyEvent(f, ev)
		emitEventDesc(f, ev)
		return
	}
	emitFields(f, ev.goName, ev.fields(), ev.labels())
	emitEventMethods(f, ev)
	emitClone(f, ev.goName, ev.detach(jen.Op("&").Id("e"))...)
	emitRendering(f, ev.goName)
	emitEventDesc(f, ev)
}

// emitEmptyEvent writes the type and the methods of an event without fields, of
// which there is little to say.
func emitEmptyEvent(f *jen.File, ev *event) {
	f.Type().Id(ev.goName).Struct()
	f.Line()
	method := func(name string) *jen.Statement { return f.Func().Params(jen.Op("*").Id(ev.goName)).Id(name) }
	method("EventDesc").Params().Op("*").Add(rt("EventDesc")).Add(brief(jen.Return(jen.Op("&").Id(ev.desc))))
	method("DecodePayload").Params(jen.Index().Byte(), rt("PtrSize")).Params(jen.Int(), jen.Error()).
		Add(brief(jen.Return(jen.Lit(0), jen.Nil())))
	method("AppendPayload").Params(jen.Id("b").Index().Byte(), jen.Id("_").Add(rt("PtrSize"))).
		Params(jen.Index().Byte(), jen.Error()).Add(brief(jen.Return(jen.Id("b"), jen.Nil())))
	emitNoValues(f, ev.goName)
}

// emitNoValues writes the methods that copy and show what has no fields.
func emitNoValues(f *jen.File, goName string) {
	f.Func().Params(jen.Op("*").Id(goName)).Id("FieldValue").Params(jen.Int()).Add(rt("Value")).Add(brief(jen.Return(rt("Value").Values())))
	f.Func().Params(jen.Id("e").Id(goName)).Id("Clone").Params().Op("*").Id(goName).Add(brief(jen.Return(jen.Op("&").Id("e"))))
	emitRendering(f, goName)
}

// emitFields writes a struct type. labels are what the event's message calls its
// fields.
func emitFields(f *jen.File, name string, fields []*field, labels map[int]string) {
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, fd := range fields {
			doc(g, fd.m.Doc)
			line := g.Id(fd.goName).Add(fd.kind.goType().code())
			if notes := fd.notes(labels[fd.index]); len(notes) > 0 {
				line.Comment("// " + strings.Join(notes, "; "))
			}
			if fd.has != "" {
				emitHasField(g, fd.has, fd.goName)
			}
		}
	})
	f.Line()
}

// emitHasField writes the field of a struct that says whether another one was
// there.
func emitHasField(g *jen.Group, has, goName string) {
	g.Id(has).Bool().Comment("// the payload has " + goName)
}

// emitGetters writes the methods that return fields.
func emitGetters(f *jen.File, goName string, fields []*field) {
	for _, fd := range fields {
		if fd.getter != "" {
			doc(f.Group, fmt.Sprintf("%s returns the field %s.", fd.getter, fd.goName))
			f.Func().Params(jen.Id("e").Op("*").Id(goName)).Id(fd.getter).Params().Add(fd.kind.goType().code()).
				Add(brief(jen.Return(jen.Id("e").Dot(fd.goName))))
			f.Line()
		}
	}
}

// emitEventMethods writes the methods that make a type an etw.Event.
func emitEventMethods(f *jen.File, ev *event) {
	doc(f.Group, fmt.Sprintf("EventDesc returns the description of %s.", ev.symbol()))
	f.Func().Params(jen.Op("*").Id(ev.goName)).Id("EventDesc").Params().Op("*").Add(rt("EventDesc")).
		Add(brief(jen.Return(jen.Op("&").Id(ev.desc))))
	f.Line()
	emitGetters(f, ev.goName, ev.fields())
	emitDecode(f, ev)
	emitAppend(f, ev)
	emitFieldValue(f, ev)
}

// symbol returns the name of ev in the manifest.
func (ev *event) symbol() string {
	if ev.m.Symbol == "" {
		return "the event"
	}
	return ev.m.Symbol
}
