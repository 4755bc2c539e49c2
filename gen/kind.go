package gen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// A kind is all that the generator knows of one shape of field. The files
// kind_*.go hold every expression that generated code has for a field; the files
// emit_*.go only put them in order.
type kind interface {
	// goType returns the type of the field.
	goType() *jen.Statement
	// read returns the statement that sets f from the cursor.
	read(c code, f *field) jen.Code
	// write returns the statement that appends f to the writer.
	write(c code, f *field) jen.Code
	// value returns f as an etw.Value.
	value(c code, f *field) *jen.Statement
	// least returns the number of bytes that the field takes at least, and
	// whether it always takes just that.
	least() (x extent, exact bool)
}

// A fixedKind has a size that is known when the code is generated.
type fixedKind interface {
	kind
	// size returns the number of bytes.
	size() int
	// load returns the value at an offset of p.
	load(off int) *jen.Statement
	// appendTo returns b with x appended.
	appendTo(x *jen.Statement) *jen.Statement
}

// A sequence is a kind of field that programs iterate over.
type sequence interface {
	kind
	isSequence()
}

// code is where a statement stands: in a method of an event or, where owner is
// not nil, of a struct. Both have a cursor r and a writer w; that of a struct is
// a pointer, and with the writer comes the index i of the event's field.
type code struct {
	recv   string // the receiver
	owner  *structType
	fields *jen.Statement // the descriptions of the scope's fields
	found  *jen.Statement // the index in fields, where it is found at run time
}

// x returns field f of the receiver.
func (c code) x(f *field) *jen.Statement { return jen.Id(c.recv).Dot(f.goName) }

// set returns the statement that sets f.
func (c code) set(f *field, x jen.Code) *jen.Statement { return c.x(f).Op("=").Add(x) }

// pointer returns the cursor r or the writer w as an argument.
func (c code) pointer(name string) *jen.Statement {
	if c.owner != nil {
		return jen.Id(name)
	}
	return jen.Op("&").Id(name)
}

// index returns the index of the event's field that f is, or is in.
func (c code) index(f *field) *jen.Statement {
	if c.owner != nil {
		return jen.Id("i")
	}
	return jen.Lit(f.index)
}

// desc returns a pointer to the description of f.
func (c code) desc(f *field) *jen.Statement {
	i := jen.Lit(f.index)
	if c.found != nil {
		i = c.found
	}
	return jen.Op("&").Add(c.fields.Clone()).Index(i)
}

// size returns a count or length as a uint64.
func (c code) size(s size) *jen.Statement {
	switch {
	case s.field == nil:
		return jen.Lit(s.n)
	case s.up > 0:
		return jen.Id(s.field.outerName())
	}
	return jen.Uint64().Call(c.x(s.field))
}

// outerArgs returns what a method of struct s takes beside its first arguments.
func (c code) outerArgs(s *structType) []jen.Code {
	var args []jen.Code
	for _, f := range s.outer {
		args = append(args, c.size(size{field: f}))
	}
	return args
}

// A size is a count or a length.
type size struct {
	kind  manifest.SizeKind
	n     int    // of a ConstSize
	field *field // of a FieldSize
	up    int    // how many structs outward it lies
}

// kind returns the kind of field f of scope in.
func (b *builder) kind(in *scoping, f *field) (kind, error) {
	m := f.m
	if m.Type == manifest.Opaque {
		return restKind{}, nil
	}
	count, err := in.size(m.Count)
	if err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	length, err := in.size(m.Length)
	if err != nil {
		return nil, fmt.Errorf("length: %w", err)
	}
	if m.Type == manifest.Struct {
		return b.structKind(in, f, count)
	}
	if count.kind != manifest.NoSize {
		return b.arrayKind(m, count, length)
	}
	switch {
	case isText(m.Type):
		return newText(m, length)
	case m.Type == manifest.Pointer:
		return pointerKind{}, nil
	case m.Type == manifest.GUIDType:
		return guidKind{}, nil
	case m.Type == manifest.SystemTime:
		return systemTimeKind{}, nil
	}
	return b.number(m)
}

// scoping is a scope while it is built.
type scoping struct {
	scope
	layout *layout
	owner  *structType // nil for the fields of an event
	around *scoping    // nil for the fields of an event
	path   string      // names the scope in messages
}

// size resolves a count or length of a field of in, all fields before which are
// known.
func (in *scoping) size(m manifest.Size) (size, error) {
	s := size{kind: m.Kind, n: int(m.Const), up: m.Up}
	if m.Kind != manifest.FieldSize {
		return s, nil
	}
	at := in
	for range m.Up {
		if at = at.around; at == nil {
			return s, fmt.Errorf("%s lies outside of the template", m.Field.Name)
		}
	}
	for _, f := range at.fields {
		if f.m != m.Field {
			continue
		}
		if _, ok := f.kind.(numberKind); !ok {
			return s, fmt.Errorf("%s is no integer", m.Field.Name)
		}
		s.field = f
		if m.Up > 0 {
			in.owner.takes(f)
		}
		return s, nil
	}
	return s, fmt.Errorf("%s does not come before the field", m.Field.Name)
}

// sizesOf returns the number of elements of a kind that is an array, and the
// length of what has one.
func sizesOf(k kind) (count, length size) {
	switch k := k.(type) {
	case restKind:
		length.kind = manifest.RestSize
	case textKind:
		length = k.length
	case fixedArray:
		count = k.count
	case pointerArray:
		count = k.count
	case textArray:
		count, length = k.count, k.length
	case structArray:
		count = k.count
	}
	return count, length
}
