package gen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/internal/payload"
	"github.com/etwgen/etwgen/runtime/etw"
)

// emitExamples writes an example of how an event becomes bytes, and one of how a record
// becomes an event. Their event is the first whose fields are all whole numbers, since the
// reader sees them in the bytes, or else the first of numbers and strings. There are no
// examples without one.
func (p *pkg) emitExamples(f *jen.File) error {
	i := slices.IndexFunc(p.events, func(ev *event) bool { return ev.isOf(isWhole) })
	if i < 0 {
		i = slices.IndexFunc(p.events, func(ev *event) bool {
			return ev.isOf(func(f *field) bool { return isWhole(f) || isString(f) })
		})
	}
	if i < 0 {
		return nil
	}
	ev, d := p.events[i], p.events[i].m.Describe()
	encode, handle := "Example"+ev.goName+"_AppendPayload", "Example"+ev.handled()
	if p.free(encode) != encode || p.free(handle) != handle {
		return nil // events are called so
	}
	bytes := payload.Plain(d, etw.Ptr64)
	var dyn etw.Dynamic
	if _, err := dyn.Decode(d, bytes, etw.Ptr64); err != nil {
		return fmt.Errorf("a payload of %s: %w", ev.goName, err)
	}
	var values []jen.Code
	for _, v := range etw.Fields(&dyn) {
		f := ev.fields()[len(values)]
		value := jen.Lit(int(v.Int()))
		if isString(f) {
			value = rt("MakeUTF16").Call(jen.Lit(etw.UTF16(v.Bytes()).String()))
		}
		values = append(values, key(f.goName, value))
	}
	made := []jen.Code{
		id("event").Op(":=").Id(ev.goName).Values(values...),
		jen.List(id("payload"), jen.Err()).Op(":=").Id("event").Dot("AppendPayload").Call(jen.Nil(), rt("Ptr64")),
	}
	f.Line()
	f.Func().Id(encode).Params().Block(append(slices.Clone(made),
		jen.Qual("fmt", "Printf").Call(jen.Lit("%x %v\n"), id("payload"), jen.Err()),
		jen.Comment(fmt.Sprintf("Output: %x <nil>", bytes)))...)
	f.Line()
	f.Func().Id(handle).Params().Block(append(append(handler(ev), made...), dispatch(
		fmt.Sprintf("Output: 4242 %s", etw.AppendText(nil, &dyn)))...)...)
	f.Line()
	return nil
}

// handled returns the type that handlers of an event take.
func (ev *event) handled() string {
	if ev.any != nil {
		return ev.any.goName
	}
	return ev.goName
}

// isOf reports whether an event that records lead to has fields, and all are such.
func (ev *event) isOf(such func(*field) bool) bool {
	return ev.lost == "" && !ev.named && len(ev.fields()) > 0 && !slices.ContainsFunc(ev.fields(), func(f *field) bool {
		return f.has != "" || !such(f)
	})
}

// isWhole reports whether a field is a whole number.
func isWhole(f *field) bool {
	k, ok := f.kind.(numberKind)
	return ok && k.integer() != integer{}
}

// isString reports whether a field is a string whose length no other field gives.
func isString(f *field) bool {
	k, ok := f.kind.(textKind)
	return ok && k.name == "UTF16" && k.length.kind == etw.SizeNone
}

// handler returns the lines that register a handler of an event.
func handler(ev *event) []jen.Code {
	return []jen.Code{
		jen.Var().Id("mux").Add(rt("Mux")),
		rt("Handle").Call(addr("mux"), jen.Func().Params(id("r").Op("*").Add(rt("Record")), id("e").Op("*").Id(ev.handled())).Error().Block(
			jen.Qual("fmt", "Println").Call(dot("r", "ProcessID"), id("e")),
			jen.Return(jen.Nil()),
		)),
		jen.Line().Comment("mux.Run(ctx, source) dispatches all records of a file or a session. This one is made here."),
	}
}

// dispatch returns the lines that dispatch a record of the payload of an event.
func dispatch(output string) []jen.Code {
	print := jen.Qual("fmt", "Println").Call(jen.Err())
	return []jen.Code{
		jen.If(jen.Err().Op("!=").Nil()).Block(print),
		id("k").Op(":=").Id("event").Dot("EventDesc").Call().Dot("Key").Call(),
		id("record").Op(":=").Op("&").Add(rt("Record")).Add(lines(
			jen.List(key("Kind", dot("k", "Kind")), key("Provider", dot("k", "Provider")), key("ID", dot("k", "ID")), key("Version", dot("k", "Version"))),
			jen.List(key("Opcode", dot("event", "EventDesc").Call().Dot("Opcode")), key("ProcessID", jen.Lit(4242)), key("Payload", id("payload")), key("PointerSize", rt("Ptr64"))),
		)),
		jen.If(jen.Err().Op(":=").Id("mux").Dot("Dispatch").Call(id("record")), jen.Err().Op("!=").Nil()).Block(print.Clone()),
		jen.Comment(output),
	}
}
