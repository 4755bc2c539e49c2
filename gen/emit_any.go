package gen

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"
)

// emitAny writes the type that takes every version of an id.
func emitAny(f *jen.File, a *anyVersion) {
	newest := a.versions[len(a.versions)-1]
	var list []string
	for _, ev := range a.versions {
		list = append(list, "["+ev.goName+"]")
	}
	doc(f.Group,
		fmt.Sprintf("%s is event %d in any version: %s.", a.goName, newest.m.ID, joinAnd(list)),
		"A version that is not known is decoded as the newest one before it; Seen tells which. "+
			"Fields that the decoded version lacks are zero.")
	f.Type().Id(a.goName).StructFunc(func(g *jen.Group) {
		g.Id("Seen").Add(etw("Seen"))
		g.Line()
		for _, fd := range a.fields {
			line := g.Id(fd.goName).Add(fd.kind.goType())
			if !fd.everywhere(a) {
				line.Comment("// " + versionsNote(fd.in(a)))
			}
		}
	})
	f.Line()
	for _, fd := range a.fields {
		if !fd.everywhere(a) {
			emitHas(f, a, fd)
		}
	}
	emitAnyDescs(f, a)
	emitDecodeVersion(f, a)
	emitAnyValue(f, a)
	emitRendering(f, a.goName)
}

// versionsNote says which versions have a field.
func versionsNote(list []*event) string {
	var numbers []string
	for _, ev := range list {
		numbers = append(numbers, strconv.Itoa(int(ev.m.Version)))
	}
	if len(numbers) == 1 {
		return "version " + numbers[0]
	}
	return "versions " + joinAnd(numbers)
}

func joinAnd(list []string) string {
	switch n := len(list); n {
	case 1:
		return list[0]
	case 2:
		return list[0] + " and " + list[1]
	default:
		s := ""
		for _, item := range list[:n-1] {
			s += item + ", "
		}
		return s + "and " + list[n-1]
	}
}

// emitHas writes the method that tells whether a version has a field.
func emitHas(f *jen.File, a *anyVersion, fd *anyField) {
	doc(f.Group, fmt.Sprintf("Has%s reports whether the version that was decoded has %s.", fd.goName, fd.goName))
	layout := func() *jen.Statement { return jen.Id("e").Dot("Seen").Dot("Layout") }
	var cond *jen.Statement
	in := fd.in(a)
	if tail := a.versions[len(a.versions)-len(in):]; slices.Equal(in, tail) {
		cond = layout().Op(">=").Lit(int(in[0].m.Version))
	} else {
		for _, ev := range in {
			test := layout().Op("==").Lit(int(ev.m.Version))
			if cond == nil {
				cond = test
			} else {
				cond.Op("||").Add(test)
			}
		}
	}
	f.Func().Params(jen.Id("e").Op("*").Id(a.goName)).Id("Has" + fd.goName).Params().Bool().Add(brief(jen.Return(cond)))
	f.Line()
}

// emitAnyDescs writes EventDesc and EventDescs.
func emitAnyDescs(f *jen.File, a *anyVersion) {
	var descs []jen.Code
	for _, ev := range a.versions {
		descs = append(descs, jen.Op("&").Id(ev.desc))
	}
	f.Var().Id(a.descs).Op("=").Index().Op("*").Add(etw("EventDesc")).Values(descs...)
	f.Line()
	doc(f.Group, "EventDescs returns the known versions, the oldest first.")
	f.Func().Params(jen.Op("*").Id(a.goName)).Id("EventDescs").Params().Index().Op("*").Add(etw("EventDesc")).
		Add(brief(jen.Return(jen.Id(a.descs))))
	f.Line()
	doc(f.Group, "EventDesc returns the description of the version that was decoded.")
	f.Func().Params(jen.Id("e").Op("*").Id(a.goName)).Id("EventDesc").Params().Op("*").Add(etw("EventDesc")).
		BlockFunc(func(g *jen.Group) {
			last := len(a.versions) - 1
			g.Switch(jen.Id("e").Dot("Seen").Dot("Layout")).BlockFunc(func(g *jen.Group) {
				for _, ev := range a.versions[:last] {
					g.Case(jen.Lit(int(ev.m.Version))).Block(jen.Return(jen.Op("&").Id(ev.desc)))
				}
			})
			g.Return(jen.Op("&").Id(a.versions[last].desc))
		})
	f.Line()
}

// emitDecodeVersion writes DecodeVersion: it decodes the type of the version and
// copies its fields.
func emitDecodeVersion(f *jen.File, a *anyVersion) {
	doc(f.Group, "DecodeVersion sets e from the payload p of the given version and returns the number of bytes read.")
	params := append([]jen.Code{jen.Id("version").Uint8()}, payloadParams()...)
	f.Func().Params(jen.Id("e").Op("*").Id(a.goName)).Id("DecodeVersion").Params(params...).
		Params(jen.Id("n").Int(), jen.Err().Error()).
		BlockFunc(func(g *jen.Group) {
			g.Switch().BlockFunc(func(g *jen.Group) {
				for i, ev := range slices.Backward(a.versions) {
					block := anyCopy(a, ev)
					if i > 0 {
						g.Case(jen.Id("version").Op(">=").Lit(int(ev.m.Version))).Block(block...)
					} else {
						g.Default().Block(block...)
					}
				}
			})
			g.Return(jen.Id("n"), jen.Err())
		})
	f.Line()
}

// anyCopy returns the statements that decode a version into e.
func anyCopy(a *anyVersion, ev *event) []jen.Code {
	seen := etw("Seen").Values(key("Version", jen.Id("version")), key("Layout", jen.Lit(int(ev.m.Version))))
	values := []jen.Code{key("Seen", seen)}
	for _, fd := range a.fields {
		own := fd.of[ev]
		if own == nil {
			continue
		}
		x := jen.Id("v").Dot(own.goName)
		if fmt.Sprintf("%#v", own.kind.goType()) != fmt.Sprintf("%#v", fd.kind.goType()) {
			x = fd.kind.goType().Call(x)
		}
		values = append(values, key(fd.goName, x))
	}
	return []jen.Code{
		jen.Var().Id("v").Id(ev.goName),
		jen.List(jen.Id("n"), jen.Err()).Op("=").Id("v").Dot("DecodePayload").Call(jen.Id("p"), jen.Id("ptr")),
		jen.Op("*").Id("e").Op("=").Id(a.goName).Add(lines(values...)),
	}
}

// emitAnyValue writes FieldValue, which finds the field by the name that the
// description of the decoded version gives it.
func emitAnyValue(f *jen.File, a *anyVersion) {
	doc(f.Group, "FieldValue returns the value of field i of EventDesc().Fields.")
	if len(a.fields) == 0 {
		f.Func().Params(jen.Op("*").Id(a.goName)).Id("FieldValue").Params(jen.Int()).Add(etw("Value")).
			Add(brief(jen.Return(etw("Value").Values())))
		f.Line()
		return
	}
	f.Func().Params(jen.Id("e").Op("*").Id(a.goName)).Id("FieldValue").Params(jen.Id("i").Int()).Add(etw("Value")).
		BlockFunc(func(g *jen.Group) {
			g.Id("fields").Op(":=").Id("e").Dot("EventDesc").Call().Dot("Fields")
			g.If(jen.Uint().Call(jen.Id("i")).Op(">=").Uint().Call(jen.Len(jen.Id("fields")))).Block(
				jen.Return(etw("Value").Values()),
			)
			c := code{recv: "e", fields: jen.Id("fields"), found: jen.Id("i")}
			g.Switch(jen.Id("fields").Index(jen.Id("i")).Dot("Name")).BlockFunc(func(g *jen.Group) {
				done := make(map[string]bool)
				for _, fd := range a.fields {
					if done[fd.m.Name] {
						continue
					}
					done[fd.m.Name] = true
					g.Case(jen.Lit(fd.m.Name)).BlockFunc(func(g *jen.Group) { anyValue(g, c, a, fd.m.Name) })
				}
			})
			g.Return(etw("Value").Values())
		})
	f.Line()
}

// anyValue writes the statements that return the value of what versions call
// name, which need not be one field.
func anyValue(g *jen.Group, c code, a *anyVersion, name string) {
	var same []*anyField
	for _, fd := range a.fields {
		if fd.m.Name == name {
			same = append(same, fd)
		}
	}
	for _, fd := range same[1:] {
		for _, ev := range fd.in(a) {
			g.If(jen.Id("e").Dot("Seen").Dot("Layout").Op("==").Lit(int(ev.m.Version))).Block(
				jen.Return(fd.value(c)),
			)
		}
	}
	g.Return(same[0].value(c))
}

// value returns f as an etw.Value.
func (f *anyField) value(c code) *jen.Statement {
	return f.kind.value(c, &field{m: f.m, goName: f.goName})
}
