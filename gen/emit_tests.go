package gen

import (
	"github.com/dave/jennifer/jen"
)

// emitTests writes a test file: round trips, truncation, allocations and a fuzz
// target for all events. It is part of the package, so that it needs no import
// path.
func (p *pkg) emitTests() *jen.File {
	f := p.newFile()
	f.ImportName(testPath, "etwtest")
	for _, name := range []string{"RoundTrip", "Truncate"} {
		f.Func().Id("TestEvents" + name).Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
			jen.Qual(testPath, name).Call(jen.Id("t"), jen.Id("Provider")),
		)
		f.Line()
	}
	f.Func().Id("TestEventsAllocs").Params(jen.Id("t").Op("*").Qual("testing", "T")).BlockFunc(func(g *jen.Group) {
		g.Qual(testPath, "Allocs").Call(jen.Id("t"), jen.Id("Provider"))
		for _, ev := range p.events {
			if ev.m.Undispatched == "" {
				allocsOf(g, ev.goName, sequences(jen.Id("e"), ev.fields()))
			}
		}
		for _, a := range p.anys {
			fields := make([]*field, len(a.fields))
			for i, f := range a.fields {
				fields[i] = &field{goName: f.goName, kind: f.kind}
			}
			allocsOf(g, a.goName, sequences(jen.Id("e"), fields))
		}
	})
	f.Line()
	f.Func().Id("FuzzEvents").Params(jen.Id("f").Op("*").Qual("testing", "F")).Block(
		jen.Qual(testPath, "Fuzz").Call(jen.Id("f"), jen.Id("Provider")),
	)
	return f
}

// allocsOf writes the call that counts allocations of handling a type.
func allocsOf(g *jen.Group, goName string, loops []jen.Code) {
	call := g.Qual(testPath, "AllocsOf")
	if len(loops) == 0 {
		call.Types(jen.Id(goName)).Call(jen.Id("t"), jen.Nil())
		return
	}
	call.Call(jen.Id("t"), jen.Func().Params(jen.Id("e").Op("*").Id(goName)).Block(loops...))
}

// sequences returns loops over the arrays among some fields of x, and over those
// inside their elements.
func sequences(x *jen.Statement, fields []*field) []jen.Code {
	var loops []jen.Code
	for _, f := range fields {
		own := x.Clone().Dot(f.goName)
		switch k := f.kind.(type) {
		case structKind:
			loops = append(loops, sequences(own, k.s.fields)...)
		case structArray:
			if inner := sequences(jen.Id("v"), k.s.fields); len(inner) > 0 {
				loops = append(loops, jen.For(jen.Id("v").Op(":=").Range().Add(own).Dot("All").Call()).Block(inner...))
				continue
			}
			loops = append(loops, jen.For(jen.Range().Add(own).Dot("All").Call()).Block())
		case sequence:
			loops = append(loops, jen.For(jen.Range().Add(own).Dot("All").Call()).Block())
		}
	}
	return loops
}
