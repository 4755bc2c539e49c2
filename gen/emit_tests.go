package gen

import (
	"github.com/dave/jennifer/jen"
)

// The names of the test functions, where nothing else has them.
const (
	testRoundTrip = "TestEventsRoundTrip"
	testTruncate  = "TestEventsTruncate"
	testClone     = "TestEventsClone"
	testVersions  = "TestEventsVersions"
	testAllocs    = "TestEventsAllocs"
	testFuzz      = "FuzzEvents"
	testFresh     = "TestEventsFresh"
)

// emitTests writes a test file: that the package is fresh and, if they are asked for, round
// trips, truncation, clones, allocations and a fuzz target for all events. It is part of the
// package, so that it needs no import path.
func (p *pkg) emitTests(opts Options) *jen.File {
	f := p.newFile()
	f.ImportName(testPath, "etwtest")
	if o := opts.Origin; o != nil && o.Manifest != "" {
		p.emitTest(f, testFresh, func(g *jen.Group) {
			g.Qual(testPath, "Fresh").Call(jen.Id("t"), jen.Lit(o.Command), jen.Lit(o.Manifest), jen.Lit(o.Fingerprint))
		})
	}
	if opts.Tests {
		p.emitTestsOfEvents(f)
	}
	return f
}

// emitTestsOfEvents writes the tests of what the types do.
func (p *pkg) emitTestsOfEvents(f *jen.File) {
	types := func(t string) []jen.Code { return []jen.Code{jen.Id(t), jen.Id("Types").Call().Op("...")} }
	every := func(g *jen.Group, call string) { g.Qual(testPath, call).Call(types("t")...) }
	p.emitTest(f, testRoundTrip, func(g *jen.Group) { every(g, "RoundTrip") })
	p.emitTest(f, testTruncate, func(g *jen.Group) { every(g, "Truncate") })
	p.emitTest(f, testClone, func(g *jen.Group) { every(g, "Clone") })
	p.emitTest(f, testVersions, func(g *jen.Group) {
		for _, a := range p.anys {
			g.Qual(testPath, "Versions").Types(jen.Id(a.goName)).Call(types("t")...)
		}
	})
	p.emitTest(f, testAllocs, func(g *jen.Group) {
		every(g, "Allocs")
		for _, ev := range p.events {
			if ev.lost == "" {
				allocsOf(g, ev.goName, sequences(jen.Id("e"), ev.fields()))
			}
		}
		for _, a := range p.anys {
			allocsOf(g, a.goName, sequences(jen.Id("e"), a.layout.own()))
		}
	})
	f.Func().Id(p.tests[testFuzz]).Params(jen.Id("f").Op("*").Qual("testing", "F")).Block(
		jen.Qual(testPath, "Fuzz").Call(types("f")...),
	)
}

// emitTest writes a test function.
func (p *pkg) emitTest(f *jen.File, name string, body func(*jen.Group)) {
	f.Func().Id(p.tests[name]).Params(jen.Id("t").Op("*").Qual("testing", "T")).BlockFunc(body)
	f.Line()
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
		s := f.kind.members()
		switch {
		case isArray(f.kind):
			loop := jen.For(jen.Range().Add(own).Dot("All").Call())
			var inner []jen.Code
			if s != nil {
				if inner = sequences(jen.Id("v"), s.fields); len(inner) > 0 {
					loop = jen.For(jen.Id("v").Op(":=").Range().Add(own).Dot("All").Call())
				}
			}
			loops = append(loops, loop.Block(inner...))
		case s != nil:
			loops = append(loops, sequences(own, s.fields)...)
		}
	}
	return loops
}
