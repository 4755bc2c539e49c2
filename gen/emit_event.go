package gen

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
)

// emitEvent writes the type of an event, its methods and its description.
func emitEvent(f *jen.File, ev *event) {
	doc(f.Group, ev.doc()...)
	if ev.layout == nil {
		f.Type().Id(ev.goName).Struct(rt("Empty"))
		f.Line()
	} else {
		emitFields(f, ev.goName, ev.fields(), ev)
	}
	emitEventMethods(f, ev)
	emitClone(f, ev.goName, ev.detach(addr("e"))...)
	emitRendering(f, ev.goName)
	emitEventDesc(f, ev)
}

// emitFields writes a struct type: that of the event ev, or of a struct in one.
func emitFields(f *jen.File, name string, fields []*field, ev *event) {
	labels := map[int]string{} // what the event's message calls its fields
	if ev != nil {
		labels = ev.labels()
	}
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, fd := range fields {
			text, see := fd.doc(ev)
			emitField(g, fd.goName, fd.kind.goType(), text, append(fd.notes(labels[fd.index]), see...))
			if fd.has != "" {
				emitHasField(g, fd.has, fd.goName)
			}
		}
	})
	f.Line()
}

// emitField writes a field of a struct. A short text without notes stands on its line.
func emitField(g *jen.Group, name string, t goType, text string, notes []string) {
	const short = 60
	if text = oneLine(text); text != "" && len(text) <= short && len(notes) == 0 {
		notes, text = []string{text}, ""
	}
	doc(g, text)
	line := g.Id(name).Add(t.code())
	if len(notes) > 0 {
		line.Comment("// " + strings.Join(notes, "; "))
	}
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
			newMethod(f, star("e", goName), fd.getter).Params().Add(fd.kind.goType().code()).
				Add(brief(jen.Return(dot("e", fd.goName))))
			f.Line()
		}
	}
}

// emitAccessor writes the interface of the events that have a field.
func emitAccessor(f *jen.File, a *accessor) {
	doc(f.Group, fmt.Sprintf("%s is an event that has the field %s. %s", a.goName, a.field, a.doc))
	f.Type().Id(a.goName).Interface(id(a.getter).Params().Add(a.goType.code()))
	f.Line()
}

// emitEventMethods writes the methods that make a type an etw.Event.
func emitEventMethods(f *jen.File, ev *event) {
	doc(f.Group, fmt.Sprintf("EventDesc returns the description of %s.", ev.symbol()))
	newMethod(f, deref(ev.goName), "EventDesc").Params().Op("*").Add(rt("EventDesc")).
		Add(brief(jen.Return(addr(ev.desc))))
	f.Line()
	emitGetters(f, ev.goName, ev.fields())
	if ev.layout == nil {
		return
	}
	emitDecode(f, ev)
	emitAppend(f, ev)
	emitFieldValue(f, ev)
}

// symbol returns the name of ev in the manifest.
func (ev *event) symbol() string {
	return cmp.Or(ev.m.Symbol, "the event")
}
