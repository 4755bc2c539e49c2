package gen

import (
	"errors"
	"slices"

	"github.com/dave/jennifer/jen"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A structType is the type of a struct, or of the elements of an array of
// structs. A struct has no structs among its members.
type structType struct {
	field  *field
	layout *layout // it is part of
	goName string  // BulkTypeValue
	view   string  // BulkTypeValues, the type of the array; "" for other types
	scope

	// outer are the fields of the event that give a count or length of a member.
	// The methods of the struct take them as parameters, and views keep them.
	outer []*field
}

// takes notes that members need the field f of the event.
func (s *structType) takes(f *field) {
	if !slices.Contains(s.outer, f) {
		s.outer = append(s.outer, f)
	}
}

// like reports whether s and t lie in a payload and in Go the same way, so that
// values of one are converted to the other.
func (s *structType) like(t *structType) bool {
	same := func(a, b size) bool {
		return a.kind == b.kind && a.n == b.n && a.up == b.up &&
			(a.field == nil) == (b.field == nil) && (a.field == nil || a.field.goName == b.field.goName)
	}
	named := func(f, g *field) bool { return f.goName == g.goName }
	return slices.EqualFunc(s.outer, t.outer, named) && slices.EqualFunc(s.fields, t.fields, func(f, g *field) bool {
		count, length := f.kind.sizes()
		count2, length2 := g.kind.sizes()
		return named(f, g) && f.inType == g.inType && f.m.When == g.m.When && f.kind.goType() == g.kind.goType() &&
			same(count, count2) && same(length, length2)
	})
}

// outerName is the parameter of a struct's methods, and the member of its view,
// that holds a field of the event.
func (f *field) outerName() string { return "outer" + f.goName }

// structKind returns the kind of a struct or of an array of structs.
func (b *builder) structKind(in *scoping, f *field, count size) (kind, error) {
	if in.owner != nil {
		return nil, errors.New("a struct cannot contain a struct")
	}
	s := &structType{field: f, layout: in.layout}
	b.structs = append(b.structs, s)
	members := b.scope(&scoping{layout: in.layout, owner: s, around: in, path: in.path + "." + f.m.Name}, f.m.Fields)
	s.scope = members
	s.placePrefix()
	if len(s.fields) == 0 {
		return nil, errors.New("a struct needs members")
	}
	if count.kind == etw.SizeNone {
		return structKind{s: s}, nil
	}
	x, exact := s.least()
	switch {
	case x.isZero() && exact:
		return nil, errors.New("the struct takes no bytes, so that nothing bounds how many the payload holds")
	case count.kind == etw.SizeRest && !exact:
		return nil, errors.New("only elements of fixed size can take the rest of a payload")
	}
	return structArray{s: s, count: count}, nil
}

// A structKind is a struct by value.
type structKind struct {
	scalar
	s *structType
}

func (k structKind) goType() goType { return goType{name: k.s.goName} }

func (k structKind) members() *structType { return k.s }

func (k structKind) aliases() bool { return aliases(k.s.fields) }

func (k structKind) least() (extent, bool) { return k.s.least() }

func (k structKind) read(c code, f *field) jen.Code {
	return c.x(f).Dot("read").Call(append([]jen.Code{c.pointer("c")}, c.outerArgs(k.s)...)...)
}

func (k structKind) write(c code, f *field) jen.Code {
	return c.x(f).Dot("write").Call(append([]jen.Code{c.pointer("a"), c.index(f)}, c.outerArgs(k.s)...)...)
}

func (k structKind) value(c code, f *field) *jen.Statement {
	return rt("StructValue").Call(c.desc(f), jen.Op("&").Add(c.x(f)))
}

// A structArray is a view of structs.
type structArray struct {
	view
	s     *structType
	count size
}

func (k structArray) goType() goType { return goType{name: k.s.view} }

func (k structArray) sizes() (count, length size) { return k.count, size{} }

func (k structArray) members() *structType { return k.s }

func (k structArray) least() (extent, bool) {
	x, exact := k.s.least()
	return x.times(k.count.n), exact && k.count.kind == etw.SizeConst
}

func (k structArray) read(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == etw.SizeRest {
		n = dot("c", "RestCount").Call(k.s.sizeExpr(dot("c", "PtrSize").Call()))
	}
	return c.x(f).Dot("read").Call(append([]jen.Code{c.pointer("c"), n}, c.outerArgs(k.s)...)...)
}

func (k structArray) write(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == etw.SizeRest {
		n = jen.Uint64().Call(c.x(f).Dot("n"))
	}
	return c.x(f).Dot("write").Call(append([]jen.Code{c.pointer("a"), c.index(f), n}, c.outerArgs(k.s)...)...)
}

func (k structArray) value(c code, f *field) *jen.Statement {
	return rt("ArrayValue").Call(c.desc(f), c.x(f).Dot("p"), c.x(f).Dot("n"), c.x(f).Dot("ptr"), id(c.recv))
}

// sizeExpr returns the number of bytes that s takes at least, with pointers of
// the size ptr.
func (s *structType) sizeExpr(ptr *jen.Statement) *jen.Statement {
	x, _ := s.least()
	pointers := (x.wide - x.narrow) / 4
	bytes := x.narrow - 4*pointers
	switch {
	case pointers == 0 && x.narrow == x.wide:
		return jen.Lit(bytes)
	case bytes < 0 || pointers < 0 || inBytes(bytes).add(inPointers(pointers)) != x:
		return ptr.Dot("Choose").Call(jen.Lit(x.narrow), jen.Lit(x.wide))
	}
	sum := ptr.Dot("Bytes").Call()
	if pointers > 1 {
		sum = jen.Lit(pointers).Op("*").Add(sum)
	}
	if bytes == 0 {
		return sum
	}
	return jen.Lit(bytes).Op("+").Add(sum)
}
