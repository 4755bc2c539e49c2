package gen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/internal/each"
)

// emitTests writes a test file: that the package is fresh and, if they are asked for, round
// trips, truncation, clones, allocations and a fuzz target for all events. It is part of the
// package, so that it needs no import path.
func (p *pkg) emitTests(opts Options) (*jen.File, error) {
	f := p.newFile()
	f.ImportName(testPath, "etwtest")
	if o := opts.Origin; o != nil && o.Manifest != "" {
		p.emitTest(f, testFresh, func(g *jen.Group) {
			g.Qual(testPath, "Fresh").Call(jen.Id("t"), jen.Lit(o.Command), jen.Lit(o.Manifest), jen.Lit(o.Fingerprint))
		})
	}
	if !opts.Tests {
		return f, nil
	}
	p.emitTestsOfEvents(f)
	return f, p.emitExamples(f)
}

// emitTestsOfEvents writes the tests of the types.
func (p *pkg) emitTestsOfEvents(f *jen.File) {
	types := func(t string) []jen.Code { return []jen.Code{jen.Id(t), jen.Id("Types").Call().Op("...")} }
	every := func(g *jen.Group, call string) { g.Qual(testPath, call).Call(types("t")...) }
	p.emitTest(f, testRoundTrip, func(g *jen.Group) { every(g, "RoundTrip") })
	p.emitTest(f, testTruncate, func(g *jen.Group) { every(g, "Truncate") })
	p.emitTest(f, testClone, func(g *jen.Group) { every(g, "Clone") })
	p.emitTest(f, testGolden, func(g *jen.Group) {
		g.Qual(testPath, "Golden").Call(append([]jen.Code{jen.Id("t"), jen.Lit(GoldenFile)}, types("t")[1:]...)...)
	})
	p.emitTest(f, testVersions, func(g *jen.Group) {
		g.Qual(testPath, "Versions").Call(jen.Id("t"), jen.Id("Types").Call(), jen.Id("anyVersions").Call().Op("..."))
	})
	p.emitTest(f, testAllocs, func(g *jen.Group) {
		every(g, "Allocs")
		g.Qual(testPath, "AllocsOfVersions").Call(jen.Id("t"), jen.Id("anyVersions").Call().Op("..."))
		for _, ev := range p.events {
			if ev.lost == "" {
				allocsOf(g, ev.goName, sequences(jen.Id("e"), ev.fields()))
			}
		}
		for _, a := range p.anys {
			if !a.embeds() { // otherwise its arrays are those of the event
				allocsOf(g, a.goName, sequences(jen.Id("e"), a.layout.own()))
			}
		}
	})
	p.emitFuzz(f)
	anys := each.Of(p.anys, func(a *anyVersion) jen.Code { return jen.New(jen.Id(a.goName)) })
	doc(f.Group, "anyVersions returns an event of each type that takes all versions of one.")
	f.Func().Id("anyVersions").Params().Index().Add(rt("AnyVersion")).Block(
		jen.Return(jen.Index().Add(rt("AnyVersion")).Add(several(2, anys...))),
	)
}

// emitFuzz writes a fuzz target for each task, so that a failure names it, and one for the
// events without.
func (p *pkg) emitFuzz(f *jen.File) {
	target := func(name string, types jen.Code) {
		f.Func().Id(name).Params(jen.Id("f").Op("*").Qual("testing", "F")).Block(
			jen.Qual(testPath, "Fuzz").Call(jen.Id("f"), jen.Add(types).Op("...")),
		)
		f.Line()
	}
	var tasks []string
	others := false
	for _, ev := range p.events {
		switch t := ev.m.Task; {
		case ev.lost != "":
		case t == nil || p.goNames[t] == "":
			others = true
		case !slices.Contains(tasks, t.Name):
			tasks = append(tasks, t.Name)
		}
	}
	if len(tasks) == 0 {
		target(p.tests[testFuzz], jen.Id("Types").Call())
		return
	}
	used := make(map[string]bool)
	for _, task := range tasks {
		name := p.free("Fuzz" + exportedName(task))
		for n := 2; used[name]; n++ {
			name = p.free(fmt.Sprintf("Fuzz%s%d", exportedName(task), n))
		}
		used[name] = true
		target(name, jen.Qual(testPath, "OfTask").Call(jen.Lit(task), jen.Id("Types").Call().Op("...")))
	}
	if others {
		var types []jen.Code
		for _, ev := range p.events {
			if t := ev.m.Task; ev.lost == "" && (t == nil || p.goNames[t] == "") {
				types = append(types, jen.New(jen.Id(ev.goName)))
			}
		}
		target(p.tests[testFuzz], jen.Index().Add(rt("Event")).Add(several(2, types...)))
	}
}

// emitTest writes a test function.
func (p *pkg) emitTest(f *jen.File, name string, body func(*jen.Group)) {
	f.Func().Id(p.tests[name]).Params(jen.Id("t").Op("*").Qual("testing", "T")).BlockFunc(body)
	f.Line()
}

// allocsOf writes the call that counts allocations of handling a type.
func allocsOf(g *jen.Group, goName string, loops []jen.Code) {
	if len(loops) == 0 {
		return // there is nothing to it that is not the same for all
	}
	g.Qual(testPath, "AllocsOf").Call(jen.Id("t"), jen.Func().Params(jen.Id("e").Op("*").Id(goName)).Block(loops...))
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
			inner := []jen.Code{jen.Id("_").Op("=").Id("v")}
			if s != nil {
				if nested := sequences(jen.Id("v"), s.fields); len(nested) > 0 {
					inner = nested
				}
			}
			loops = append(loops, jen.For(jen.Id("v").Op(":=").Range().Add(own).Dot("All").Call()).Block(inner...))
		case s != nil:
			loops = append(loops, sequences(own, s.fields)...)
		}
	}
	return loops
}
