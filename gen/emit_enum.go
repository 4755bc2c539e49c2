package gen

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// emitEnum writes the type of a map.
func emitEnum(f *jen.File, e *enum) {
	what := "a value"
	if e.m.Flags {
		what = "a set of flags"
	}
	doc(f.Group, fmt.Sprintf("%s is %s of the map %s.", e.goName, what, e.m.Name), e.m.Doc)
	f.Type().Id(e.goName).Id(fmt.Sprintf("uint%d", e.bits))
	f.Line()
	if len(e.entries) > 0 {
		doc(f.Group, fmt.Sprintf("Values of %s.", e.goName))
		f.Const().DefsFunc(func(d *jen.Group) {
			for _, entry := range e.entries {
				emitEntry(d, e, entry)
			}
		})
		f.Line()
	}
	f.Var().Id(e.desc).Op("=").Add(rt("MapDesc")).Add(lines(e.descFields()...))
	f.Line()
	number := func() *jen.Statement { return jen.Uint32().Call(id("v")) }
	doc(f.Group, e.stringDoc())
	newMethod(f, id("v").Id(e.goName), "String").Params().String().Add(brief(
		jen.Return(dot(e.desc, "ValueName").Call(jen.Lit(e.goName), number())),
	))
	f.Line()
	doc(f.Group, e.textDoc())
	newMethod(f, id("v").Id(e.goName), "MarshalText").Params().Params(jen.Index().Byte(), jen.Error()).Add(brief(
		jen.Return(jen.Index().Byte().Call(dot(e.desc, "ValueString").Call(number())), jen.Nil()),
	))
	f.Line()
}

// emitEntry writes a constant. Its comment follows it, or precedes it if it is long.
func emitEntry(d *jen.Group, e *enum, entry enumEntry) {
	const long = 60
	text := entry.m.Doc
	if text == "" && letters(entry.goName) != letters(e.goName+entry.text()) {
		text = entry.text()
	}
	text = oneLine(text)
	if len(text) > long {
		doc(d, text)
		text = ""
	}
	line := d.Id(entry.goName).Id(e.goName).Op("=").Add(e.number(entry.m.Value))
	if text != "" {
		line.Comment("// " + text)
	}
}

func (e *enum) stringDoc() string {
	if e.m.Flags {
		return "String returns the names of the flags that are set, joined by |."
	}
	return "String returns the name of v, or its type and number if it has none."
}

func (e *enum) textDoc() string {
	if e.m.Flags {
		return "MarshalText returns the form of String."
	}
	return "MarshalText returns the name of v, or its number if it has none."
}

// number returns a value of e as the manifest's author would write it.
func (e *enum) number(v uint32) *jen.Statement {
	if e.m.Flags || v > 0xffff {
		return hex(uint64(v))
	}
	return jen.Lit(int(v))
}

// text returns the text of an entry.
func (e enumEntry) text() string {
	switch {
	case oneLine(e.m.Message) != "":
		return oneLine(e.m.Message)
	case e.m.Symbol != "":
		return e.m.Symbol
	}
	return ""
}

func (e *enum) descFields() []jen.Code {
	fields := []jen.Code{key("Name", jen.Lit(e.m.Name))}
	if e.m.Flags {
		fields = append(fields, key("Flags", jen.True()))
	}
	var entries []jen.Code
	for _, entry := range e.m.Entries {
		name := enumEntry{m: entry}.text()
		if name == "" {
			continue
		}
		entries = append(entries, jen.Values(key("Value", e.number(entry.Value)), key("Name", jen.Lit(name))))
	}
	if len(entries) > 0 {
		fields = append(fields, key("Entries", jen.Index().Add(rt("MapEntry")).Add(lines(entries...))))
	}
	return fields
}
