package gen

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// emitStruct writes the type of a struct, and of an array of it.
func emitStruct(f *jen.File, s *structType) {
	parent := s.layout.events[0].goName
	if s.view == "" {
		doc(f.Group, fmt.Sprintf("%s is the type of [%s.%s].", s.goName, parent, s.field.goName), s.field.m.Doc)
	} else {
		doc(f.Group, fmt.Sprintf("%s is one element of [%s.%s].", s.goName, parent, s.field.goName), s.field.m.Doc)
	}
	emitFields(f, s.goName, s.fields, nil)
	c := code{recv: "v", owner: s, fields: s.desc().Dot("Fields")}
	receiver := func() *jen.Statement { return jen.Func().Params(jen.Id("v").Op("*").Id(s.goName)) }
	f.Add(receiver()).Id("read").Params(s.params(jen.Id("c").Op("*").Add(rt("Cursor")))...).
		BlockFunc(func(g *jen.Group) { readBody(g, c, s) })
	f.Line()
	index := "i"
	if s.isFixed() { // nothing can fail, and so nothing says where
		index = "_"
	}
	f.Add(receiver()).Id("write").Params(s.params(jen.Id("a").Op("*").Add(rt("Appender")), jen.Id(index).Int())...).
		BlockFunc(func(g *jen.Group) { writeBody(g, c, s) })
	f.Line()
	doc(f.Group, fmt.Sprintf("FieldValue returns the value of member i of the description of %s.", s.field.goName))
	f.Add(receiver()).Id("FieldValue").Params(jen.Id("i").Int()).Add(rt("Value")).
		BlockFunc(func(g *jen.Group) { valueBody(g, c, s.fields) })
	f.Line()
	emitStructClone(f, s)
	emitStructRendering(f, s)
	if s.view != "" {
		emitView(f, s)
	}
}

// desc returns the description of s.
func (s *structType) desc() *jen.Statement {
	return s.layout.code().fields.Index(jen.Lit(s.field.index))
}

// params returns parameters, followed by those for sizes from outside of s.
func (s *structType) params(list ...jen.Code) []jen.Code {
	for _, o := range s.outer {
		list = append(list, jen.Id(o.outerName()).Uint64())
	}
	return list
}

// args returns arguments, followed by the sizes that the view v keeps.
func (s *structType) args(v string, list ...jen.Code) []jen.Code {
	for _, o := range s.outer {
		list = append(list, jen.Id(v).Dot(o.outerName()))
	}
	return list
}

// readBody writes the statements that set v from the cursor: the prefix in one
// piece, if it is worth it, then what follows one by one.
func readBody(g *jen.Group, c code, s *structType) {
	rest := s.fields
	if isOptional(s.fields) {
		g.Op("*").Id("v").Op("=").Id(s.goName).Values()
	}
	if s.prefix > 1 {
		g.Id("p").Op(":=").Id("c").Dot("Bytes").Call(jen.Lit(s.prefixSize))
		g.If(jen.Len(jen.Id("p")).Op("<").Lit(s.prefixSize)).Block(jen.Return())
		for _, f := range s.fields[:s.prefix] {
			g.Add(c.set(f, f.kind.(fixedKind).load(f.offset)))
		}
		rest = s.fields[s.prefix:]
	}
	for _, f := range rest {
		g.Add(f.kind.read(c, f))
	}
}

// writeBody writes the statements that append v to the writer.
func writeBody(g *jen.Group, c code, s *structType) {
	for _, f := range s.fields {
		g.Add(f.kind.write(c, f))
	}
}

// emitView writes the type of an array of s.
func emitView(f *jen.File, s *structType) {
	_, exact := s.least()
	doc(f.Group, fmt.Sprintf("%s is a sequence of [%s] that aliases a payload.", s.view, s.goName))
	f.Type().Id(s.view).Struct(s.params(
		jen.Id("p").Index().Byte(),
		jen.Id("n").Int(),
		jen.Id("ptr").Add(rt("PtrSize")),
	)...)
	f.Line()
	emitMake(f, s)
	value := func() *jen.Statement { return jen.Func().Params(jen.Id("s").Id(s.view)) }
	doc(f.Group, "Len returns the number of elements.")
	f.Add(value()).Id("Len").Params().Int().Add(brief(jen.Return(jen.Id("s").Dot("n"))))
	f.Line()
	if exact {
		emitAt(f, s)
	}
	doc(f.Group, "All iterates over the elements.")
	f.Add(value()).Id("All").Params().Qual("iter", "Seq").Types(jen.Id(s.goName)).Block(
		jen.Return(jen.Func().Params(jen.Id("yield").Func().Params(jen.Id(s.goName)).Bool()).Block(
			jen.Id("c").Op(":=").Add(rt("NewCursor")).Call(jen.Id("s").Dot("p"), jen.Lit(0), jen.Id("s").Dot("ptr")),
			jen.For(jen.Range().Id("s").Dot("n")).Block(
				jen.Var().Id("v").Id(s.goName),
				jen.Id("v").Dot("read").Call(s.args("s", jen.Op("&").Id("c"))...),
				jen.If(jen.Op("!").Id("yield").Call(jen.Id("v"))).Block(jen.Return()),
			),
		)),
	)
	f.Line()
	doc(f.Group, "Equal reports whether s and t hold the same bytes, for the same size of pointers.")
	same := jen.Id("s").Dot("ptr").Op("==").Id("t").Dot("ptr")
	for _, o := range s.outer {
		same.Op("&&").Id("s").Dot(o.outerName()).Op("==").Id("t").Dot(o.outerName())
	}
	f.Add(value()).Id("Equal").Params(jen.Id("t").Id(s.view)).Bool().Block(
		jen.If(jen.Id("s").Dot("n").Op("==").Lit(0)).Block(jen.Return(jen.Id("t").Dot("n").Op("==").Lit(0))),
		jen.Return(jen.Id("s").Dot("n").Op("==").Id("t").Dot("n").Op("&&").Add(same).Op("&&").
			Qual("bytes", "Equal").Call(jen.Id("s").Dot("p"), jen.Id("t").Dot("p"))),
	)
	f.Line()
	emitViewCopy(f, s)
	emitReadView(f, s)
	emitWriteView(f, s)
}

// emitAt writes the method that returns one element.
func emitAt(f *jen.File, s *structType) {
	doc(f.Group, "At returns element i, which must be in [0, Len).")
	f.Func().Params(jen.Id("s").Id(s.view)).Id("At").Params(jen.Id("i").Int()).Id(s.goName).Block(
		jen.Id("size").Op(":=").Add(s.sizeExpr(jen.Id("s").Dot("ptr"))),
		jen.Id("c").Op(":=").Add(rt("NewCursor")).Call(
			jen.Id("s").Dot("p").Index(jen.Id("i").Op("*").Id("size"), jen.Parens(jen.Id("i").Op("+").Lit(1)).Op("*").Id("size")),
			jen.Lit(0), jen.Id("s").Dot("ptr")),
		jen.Var().Id("v").Id(s.goName),
		jen.Id("v").Dot("read").Call(s.args("s", jen.Op("&").Id("c"))...),
		jen.Return(jen.Id("v")),
	)
	f.Line()
}

// emitReadView writes the method that sets a view from the cursor: elements of
// fixed size by one multiplication, others by a walk over them, so that what
// decodes can be iterated over without errors.
func emitReadView(f *jen.File, s *structType) {
	least, exact := s.least()
	f.Func().Params(jen.Id("s").Op("*").Id(s.view)).Id("read").
		Params(s.params(jen.Id("c").Op("*").Add(rt("Cursor")), jen.Id("n").Uint64())...).
		BlockFunc(func(g *jen.Group) {
			ptr := jen.Id("c").Dot("PtrSize").Call()
			count := func(size jen.Code) { g.Id("s").Dot("n").Op("=").Id("c").Dot("Count").Call(jen.Id("n"), size) }
			switch {
			case exact:
				g.Id("size").Op(":=").Add(s.sizeExpr(ptr.Clone()))
				count(jen.Id("size"))
			case !least.isZero():
				count(s.sizeExpr(ptr.Clone()))
			}
			g.Id("s").Dot("ptr").Op("=").Add(ptr)
			for _, o := range s.outer {
				g.Id("s").Dot(o.outerName()).Op("=").Id(o.outerName())
			}
			if exact {
				g.Id("s").Dot("p").Op("=").Id("c").Dot("Bytes").Call(jen.Id("s").Dot("n").Op("*").Id("size"))
				return
			}
			g.Id("from").Op(":=").Id("c").Dot("Offset").Call()
			g.Var().Id("v").Id(s.goName)
			read := jen.Id("v").Dot("read").Call(s.args("s", jen.Id("c"))...)
			going := jen.Op("!").Id("c").Dot("Failed").Call()
			if least.isZero() {
				// All sizes come from outside, so that the first element shows whether
				// they take bytes, which then bound them.
				g.For(jen.Id("s").Dot("n").Op("=").Lit(0), jen.Uint64().Call(jen.Id("s").Dot("n")).Op("<").Id("n").Op("&&").Add(going), jen.Id("s").Dot("n").Op("++")).Block(
					read,
					jen.If(jen.Id("s").Dot("n").Op("==").Lit(0).Op("&&").Id("c").Dot("Offset").Call().Op("==").Id("from")).Block(
						jen.Id("c").Dot("Count").Call(jen.Id("n"), jen.Lit(0)).Comment("elements without bytes"),
					),
				)
			} else {
				g.For(jen.Id("i").Op(":=").Lit(0), jen.Id("i").Op("<").Id("s").Dot("n").Op("&&").Add(going), jen.Id("i").Op("++")).Block(read)
			}
			g.Id("s").Dot("p").Op("=").Id("c").Dot("Since").Call(jen.Id("from"))
		})
	f.Line()
}

// emitWriteView writes the method that appends a view to the writer.
func emitWriteView(f *jen.File, s *structType) {
	f.Func().Params(jen.Id("s").Id(s.view)).Id("write").
		Params(s.params(jen.Id("a").Op("*").Add(rt("Appender")), jen.Id("i").Int(), jen.Id("n").Uint64())...).
		BlockFunc(func(g *jen.Group) {
			for _, o := range s.outer {
				g.If(jen.Id("s").Dot(o.outerName()).Op("!=").Id(o.outerName()).Op("&&").Id("s").Dot("n").Op("!=").Lit(0)).Block(
					jen.Id("a").Dot("Fail").Call(jen.Id("i"), rt("ErrLength")),
				)
			}
			g.Id("a").Dot("Elements").Call(jen.Id("i"), jen.Id("s").Dot("p"), jen.Id("s").Dot("ptr"), jen.Id("s").Dot("n"), jen.Id("n"))
		})
	f.Line()
}

// emitMake writes the function that makes a view of elements.
func emitMake(f *jen.File, s *structType) {
	name := "Make" + s.view
	text := fmt.Sprintf("%s encodes elements, for building an event.", name)
	if len(s.outer) > 0 {
		text += " It takes the sizes that fields outside of the elements give."
	}
	doc(f.Group, text)
	params := s.params(jen.Id("ptr").Add(rt("PtrSize")))
	params = append(params, jen.Id("vs").Op("...").Id(s.goName))
	fields := []jen.Code{key("p", jen.Id("p")), key("n", jen.Len(jen.Id("vs"))), key("ptr", jen.Id("ptr"))}
	args := []jen.Code{jen.Op("&").Id("a"), jen.Lit(0)}
	for _, o := range s.outer {
		fields = append(fields, key(o.outerName(), jen.Id(o.outerName())))
		args = append(args, jen.Id(o.outerName()))
	}
	f.Func().Id(name).Params(params...).Params(jen.Id(s.view), jen.Error()).Block(
		jen.Id("a").Op(":=").Add(rt("NewAppender")).Call(jen.Nil(), jen.Id("ptr")),
		jen.For(jen.Id("i").Op(":=").Range().Id("vs")).Block(
			jen.Id("vs").Index(jen.Id("i")).Dot("write").Call(args...),
		),
		jen.List(jen.Id("p"), jen.Err()).Op(":=").Id("a").Dot("View").Call(),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id(s.view).Values(), jen.Err())),
		jen.Return(jen.Id(s.view).Values(fields...), jen.Nil()),
	)
	f.Line()
}
