package gen

import (
	"errors"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// A structType is the type of a struct, or of the elements of an array of
// structs. Members of a struct are no structs.
type structType struct {
	field  *field
	layout *layout // it is part of
	goName string  // BulkTypeValue
	view   string  // BulkTypeValues, the type of the array; "" if it is none
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

// outerName is the parameter of a struct's methods, and the member of its view,
// that holds a field of the event.
func (f *field) outerName() string { return "outer" + f.goName }

// structKind returns the kind of a struct or of an array of structs.
func (b *builder) structKind(in *scoping, f *field, count size) (kind, error) {
	if in.owner != nil {
		return nil, errors.New("a struct has no structs")
	}
	s := &structType{field: f, layout: in.layout}
	b.structs = append(b.structs, s)
	members := b.scope(&scoping{layout: in.layout, owner: s, around: in, path: in.path + "." + f.m.Name}, f.m.Fields)
	s.scope = members
	s.placePrefix()
	if len(s.fields) == 0 {
		return nil, errors.New("a struct needs members")
	}
	if count.kind == manifest.NoSize {
		return structKind{s}, nil
	}
	x, exact := s.least()
	switch {
	case x.isZero() && exact:
		return nil, errors.New("the struct takes no bytes, so that nothing bounds how many the payload holds")
	case count.kind == manifest.RestSize && !exact:
		return nil, errors.New("only elements of fixed size can take the rest of a payload")
	}
	return structArray{s, count}, nil
}

// A structKind is a struct by value.
type structKind struct{ s *structType }

func (k structKind) goType() *jen.Statement { return jen.Id(k.s.goName) }

func (k structKind) least() (extent, bool) { return k.s.least() }

func (k structKind) read(c code, f *field) jen.Code {
	return c.x(f).Dot("read").Call(append([]jen.Code{c.pointer("r")}, c.outerArgs(k.s)...)...)
}

func (k structKind) write(c code, f *field) jen.Code {
	return c.x(f).Dot("write").Call(append([]jen.Code{c.pointer("w"), c.index(f)}, c.outerArgs(k.s)...)...)
}

func (k structKind) value(c code, f *field) *jen.Statement {
	return etw("StructValue").Call(c.desc(f), jen.Op("&").Add(c.x(f)))
}

// A structArray is a view of structs.
type structArray struct {
	s     *structType
	count size
}

func (structArray) isSequence() {}

func (k structArray) goType() *jen.Statement { return jen.Id(k.s.view) }

func (k structArray) least() (extent, bool) {
	x, exact := k.s.least()
	return x.times(k.count.n), exact && k.count.kind == manifest.ConstSize
}

func (k structArray) read(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == manifest.RestSize {
		n = jen.Id("r").Dot("RestCount").Call(k.s.sizeExpr(jen.Id("r").Dot("PtrSize").Call()))
	}
	return c.x(f).Dot("read").Call(append([]jen.Code{c.pointer("r"), n}, c.outerArgs(k.s)...)...)
}

func (k structArray) write(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == manifest.RestSize {
		n = jen.Uint64().Call(c.x(f).Dot("n"))
	}
	return c.x(f).Dot("write").Call(append([]jen.Code{c.pointer("w"), c.index(f), n}, c.outerArgs(k.s)...)...)
}

func (k structArray) value(c code, f *field) *jen.Statement {
	return etw("ArrayValue").Call(c.desc(f), c.x(f).Dot("p"), c.x(f).Dot("n"), c.x(f).Dot("ptr"), jen.Id(c.recv))
}

// sizeExpr returns the number of bytes that s takes at least, with pointers of
// the size ptr.
func (s *structType) sizeExpr(ptr *jen.Statement) *jen.Statement {
	x, _ := s.least()
	if x.pointers == 0 {
		return jen.Lit(x.bytes)
	}
	pointers := ptr.Dot("Bytes").Call()
	if x.pointers > 1 {
		pointers = jen.Lit(x.pointers).Op("*").Add(pointers)
	}
	if x.bytes == 0 {
		return pointers
	}
	return jen.Lit(x.bytes).Op("+").Add(pointers)
}
