package gen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// emitEvent writes the type of an event, its methods and its description.
func emitEvent(f *jen.File, ev *event) {
	doc(f.Group, ev.doc()...)
	emitFields(f, ev.goName, ev.fields())
	emitEventMethods(f, ev)
	emitRendering(f, ev.goName)
	emitEventDesc(f, ev)
}

// doc returns the paragraphs of the documentation of ev.
func (ev *event) doc() []string {
	e := ev.m
	text := fmt.Sprintf("%s is %s: event %d, version %d", ev.goName, e.Symbol, e.ID, e.Version)
	if e.Symbol == "" {
		text = fmt.Sprintf("%s is event %d, version %d", ev.goName, e.ID, e.Version)
	}
	if e.Task != nil {
		text += ", of task " + e.Task.Name
	}
	if e.Opcode != nil {
		text += ", opcode " + e.Opcode.Name
	}
	switch len(e.Keywords) {
	case 0:
	case 1:
		text += ", keyword " + e.Keywords[0].Name
	default:
		names := make([]string, len(e.Keywords))
		for i, k := range e.Keywords {
			names[i] = k.Name
		}
		last := len(names) - 1
		text += ", keywords " + strings.Join(names[:last], ", ") + " and " + names[last]
	}
	if e.Level != nil {
		text += ", level " + e.Level.Name
	}
	paragraphs := []string{text + ".", e.Doc}
	if msg := plainMessage(e.Message, ev.fields()); saysMore(msg, ev.fields(), ev.names()...) {
		paragraphs = append(paragraphs, "Message: "+msg)
	}
	if e.Undispatched != "" {
		paragraphs = append(paragraphs, fmt.Sprintf("No record leads to this type, and Provider does not list it: %s.", e.Undispatched))
	}
	if len(ev.fields()) > 0 {
		if last := ev.fields()[len(ev.fields())-1].m; last.Type == manifest.Opaque {
			paragraphs = append(paragraphs, opaqueDoc(ev.fields()[len(ev.fields())-1]))
		}
	}
	return paragraphs
}

// names returns what a message may repeat without saying more than the header
// of an event does.
func (ev *event) names() []string {
	list := []string{ev.m.Symbol, ev.goName}
	if ev.m.Task != nil {
		list = append(list, ev.m.Task.Name)
	}
	if ev.m.Opcode != nil {
		list = append(list, ev.m.Opcode.Name, strings.TrimPrefix(ev.m.Opcode.Name, "win:"))
	}
	return list
}

// opaqueDoc says why the last field of an event holds the rest of the payload.
func opaqueDoc(f *field) string {
	text := fmt.Sprintf("%s holds the rest of the payload as it is: %s.", f.goName, f.m.Opaque)
	if len(f.m.Lost) > 0 {
		text += " It takes the place of " + strings.Join(f.m.Lost, ", ") + "."
	}
	return text
}

// emitFields writes a struct type.
func emitFields(f *jen.File, name string, fields []*field) {
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, fd := range fields {
			emitField(g, fd)
		}
	})
	f.Line()
}

// emitField writes a field of a struct.
func emitField(g *jen.Group, f *field) {
	doc(g, f.m.Doc)
	line := g.Id(f.goName).Add(f.kind.goType())
	if note := countNote(f); note != "" {
		line.Comment("// " + note)
	}
}

// countNote says how many elements an array has, or that a field takes all that
// is left.
func countNote(f *field) string {
	count, _ := sizesOf(f.kind)
	switch count.kind {
	case manifest.ConstSize:
		if count.n == 1 {
			return "1 element"
		}
		return fmt.Sprintf("%d elements", count.n)
	case manifest.FieldSize:
		return count.field.goName + " elements"
	case manifest.RestSize:
		return "as many elements as the payload holds"
	}
	if _, ok := f.kind.(restKind); ok {
		return "the rest of the payload"
	}
	return ""
}

// emitEventMethods writes the methods that make a type an etw.Event.
func emitEventMethods(f *jen.File, ev *event) {
	doc(f.Group, fmt.Sprintf("EventDesc returns the description of %s.", ev.symbol()))
	f.Func().Params(jen.Op("*").Id(ev.goName)).Id("EventDesc").Params().Op("*").Add(etw("EventDesc")).
		Add(brief(jen.Return(jen.Op("&").Id(ev.desc))))
	f.Line()
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

// emitRendering writes the methods that show an event.
func emitRendering(f *jen.File, name string) {
	receiver := func() *jen.Statement { return jen.Func().Params(jen.Id("e").Op("*").Id(name)) }
	f.Add(receiver()).Id("String").Params().String().
		Add(brief(jen.Return(jen.String().Call(etw("AppendText").Call(jen.Nil(), jen.Id("e"))))))
	f.Add(receiver()).Id("LogValue").Params().Qual("log/slog", "Value").
		Add(brief(jen.Return(etw("LogValue").Call(jen.Id("e")))))
	f.Add(receiver()).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).
		Add(brief(jen.Return(etw("AppendJSON").Call(jen.Nil(), jen.Id("e")))))
	f.Line()
}
