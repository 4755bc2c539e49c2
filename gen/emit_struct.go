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
	receiver := func() *jen.Statement { return jen.Func().Params(star("v", s.goName)) }
	f.Add(receiver()).Id("read").Params(s.params(id("c").Op("*").Add(rt("Cursor")))...).
		BlockFunc(func(g *jen.Group) { readBody(g, c, s) })
	f.Line()
	index := "i"
	if s.isFixed() { // nothing can fail, and so nothing says where
		index = "_"
	}
	f.Add(receiver()).Id("write").Params(s.params(id("a").Op("*").Add(rt("Appender")), id(index).Int())...).
		BlockFunc(func(g *jen.Group) { writeBody(g, c, s) })
	f.Line()
	doc(f.Group, fmt.Sprintf("FieldValue returns the value of member i of the description of %s.", s.field.goName))
	f.Add(receiver()).Id("FieldValue").Params(id("i").Int()).Add(rt("Value")).
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
		list = append(list, id(o.outerName()).Uint64())
	}
	return list
}

// args returns arguments, followed by the sizes that the view v keeps.
func (s *structType) args(v string, list ...jen.Code) []jen.Code {
	for _, o := range s.outer {
		list = append(list, id(v).Dot(o.outerName()))
	}
	return list
}

// readBody writes the statements that set v from the cursor: the prefix in one piece, if it
// is worth it, then the rest one by one.
func readBody(g *jen.Group, c code, s *structType) {
	rest := s.fields
	if isOptional(s.fields) {
		g.Op("*").Id("v").Op("=").Id(s.goName).Values()
	}
	if s.prefix > 1 {
		g.Id("p").Op(":=").Id("c").Dot("Bytes").Call(jen.Lit(s.prefixSize))
		g.If(jen.Len(id("p")).Op("<").Lit(s.prefixSize)).Block(jen.Return())
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
		id("p").Index().Byte(),
		id("n").Int(),
		id("ptr").Add(rt("PtrSize")),
	)...)
	f.Line()
	emitMake(f, s)
	value := func() *jen.Statement { return jen.Func().Params(id("s").Id(s.view)) }
	doc(f.Group, "Len returns the number of elements.")
	f.Add(value()).Id("Len").Params().Int().Add(brief(jen.Return(dot("s", "n"))))
	f.Line()
	if exact {
		emitAt(f, s)
	}
	doc(f.Group, "All iterates over the elements.")
	f.Add(value()).Id("All").Params().Qual("iter", "Seq").Types(id(s.goName)).Block(
		jen.Return(jen.Func().Params(id("yield").Func().Params(id(s.goName)).Bool()).Block(
			id("c").Op(":=").Add(rt("NewCursor")).Call(dot("s", "p"), jen.Lit(0), dot("s", "ptr")),
			jen.For(jen.Range().Id("s").Dot("n")).Block(
				jen.Var().Id("v").Id(s.goName),
				dot("v", "read").Call(s.args("s", addr("c"))...),
				jen.If(jen.Op("!").Id("yield").Call(id("v"))).Block(jen.Return()),
			),
		)),
	)
	f.Line()
	doc(f.Group, "Equal reports whether s and t hold the same bytes, for the same size of pointers.")
	same := dot("s", "ptr").Op("==").Id("t").Dot("ptr")
	for _, o := range s.outer {
		same.Op("&&").Id("s").Dot(o.outerName()).Op("==").Id("t").Dot(o.outerName())
	}
	f.Add(value()).Id("Equal").Params(id("t").Id(s.view)).Bool().Block(
		jen.If(dot("s", "n").Op("==").Lit(0)).Block(jen.Return(dot("t", "n").Op("==").Lit(0))),
		jen.Return(dot("s", "n").Op("==").Id("t").Dot("n").Op("&&").Add(same).Op("&&").
			Qual("bytes", "Equal").Call(dot("s", "p"), dot("t", "p"))),
	)
	f.Line()
	emitViewCopy(f, s)
	emitReadView(f, s)
	emitWriteView(f, s)
}

// emitAt writes the method that returns one element.
func emitAt(f *jen.File, s *structType) {
	doc(f.Group, "At returns element i, which must be in [0, Len).")
	newMethod(f, id("s").Id(s.view), "At").Params(id("i").Int()).Id(s.goName).Block(
		id("size").Op(":=").Add(s.sizeExpr(dot("s", "ptr"))),
		id("c").Op(":=").Add(rt("NewCursor")).Call(
			dot("s", "p").Index(star("i", "size"), jen.Parens(id("i").Op("+").Lit(1)).Op("*").Id("size")),
			jen.Lit(0), dot("s", "ptr")),
		jen.Var().Id("v").Id(s.goName),
		dot("v", "read").Call(s.args("s", addr("c"))...),
		jen.Return(id("v")),
	)
	f.Line()
}

// emitReadView writes the method that sets a view from the cursor: elements of fixed size by
// one multiplication, others by a walk over them, so that a decoded value can be iterated
// over without errors.
func emitReadView(f *jen.File, s *structType) {
	least, exact := s.least()
	newMethod(f, star("s", s.view), "read").
		Params(s.params(id("c").Op("*").Add(rt("Cursor")), id("n").Uint64())...).
		BlockFunc(func(g *jen.Group) {
			ptr := dot("c", "PtrSize").Call()
			count := func(size jen.Code) { g.Id("s").Dot("n").Op("=").Id("c").Dot("Count").Call(id("n"), size) }
			switch {
			case exact:
				g.Id("size").Op(":=").Add(s.sizeExpr(ptr.Clone()))
				count(id("size"))
			case !least.isZero():
				count(s.sizeExpr(ptr.Clone()))
			}
			g.Id("s").Dot("ptr").Op("=").Add(ptr)
			for _, o := range s.outer {
				g.Id("s").Dot(o.outerName()).Op("=").Id(o.outerName())
			}
			if exact {
				g.Id("s").Dot("p").Op("=").Id("c").Dot("Bytes").Call(dot("s", "n").Op("*").Id("size"))
				return
			}
			g.Id("from").Op(":=").Id("c").Dot("Offset").Call()
			g.Var().Id("v").Id(s.goName)
			read := dot("v", "read").Call(s.args("s", id("c"))...)
			going := jen.Op("!").Id("c").Dot("Failed").Call()
			if least.isZero() {
				// All sizes come from outside, so that the first element shows whether
				// they take bytes, which then bound them.
				g.For(dot("s", "n").Op("=").Lit(0), jen.Uint64().Call(dot("s", "n")).Op("<").Id("n").Op("&&").Add(going), dot("s", "n").Op("++")).Block(
					read,
					jen.If(dot("s", "n").Op("==").Lit(0).Op("&&").Id("c").Dot("Offset").Call().Op("==").Id("from")).Block(
						dot("c", "Count").Call(id("n"), jen.Lit(0)).Comment("elements without bytes"),
					),
				)
			} else {
				g.For(id("i").Op(":=").Lit(0), id("i").Op("<").Id("s").Dot("n").Op("&&").Add(going), id("i").Op("++")).Block(read)
			}
			g.Id("s").Dot("p").Op("=").Id("c").Dot("Since").Call(id("from"))
		})
	f.Line()
}

// emitWriteView writes the method that appends a view to the writer.
func emitWriteView(f *jen.File, s *structType) {
	newMethod(f, id("s").Id(s.view), "write").
		Params(s.params(id("a").Op("*").Add(rt("Appender")), id("i").Int(), id("n").Uint64())...).
		BlockFunc(func(g *jen.Group) {
			for _, o := range s.outer {
				g.If(id("s").Dot(o.outerName()).Op("!=").Id(o.outerName()).Op("&&").Id("s").Dot("n").Op("!=").Lit(0)).Block(
					dot("a", "Fail").Call(id("i"), rt("ErrLength")),
				)
			}
			g.Id("a").Dot("Elements").Call(id("i"), dot("s", "p"), dot("s", "ptr"), dot("s", "n"), id("n"))
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
	params := s.params(id("ptr").Add(rt("PtrSize")))
	params = append(params, id("vs").Op("...").Id(s.goName))
	fields := []jen.Code{key("p", id("p")), key("n", jen.Len(id("vs"))), key("ptr", id("ptr"))}
	args := []jen.Code{addr("a"), jen.Lit(0)}
	for _, o := range s.outer {
		fields = append(fields, key(o.outerName(), id(o.outerName())))
		args = append(args, id(o.outerName()))
	}
	f.Func().Id(name).Params(params...).Params(id(s.view), jen.Error()).Block(
		id("a").Op(":=").Add(rt("NewAppender")).Call(jen.Nil(), id("ptr")),
		jen.For(id("i").Op(":=").Range().Id("vs")).Block(
			id("vs").Index(id("i")).Dot("write").Call(args...),
		),
		jen.List(id("p"), jen.Err()).Op(":=").Id("a").Dot("View").Call(),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(id(s.view).Values(), jen.Err())),
		jen.Return(id(s.view).Values(fields...), jen.Nil()),
	)
	f.Line()
}
