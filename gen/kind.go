package gen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A kind is all that the generator knows of one shape of field. The files
// kind_*.go hold every expression that generated code has for a field; the files
// emit_*.go only put them in order, and ask no kind which one it is.
type kind interface {
	// goType returns the type of the field.
	goType() goType
	// least returns the number of bytes that the field takes at least, and
	// whether it always takes just that.
	least() (x extent, exact bool)
	// sizes returns the number of elements of an array, and the length of a field that has
	// one.
	sizes() (count, length size)
	// members returns the type of a struct, or of the elements of an array of
	// structs, and nil for all else.
	members() *structType
	// enum returns the type of the map that values have, or nil.
	enum() *enum
	// integer returns the integer type of the field, if it is one.
	integer() integer
	// aliases reports whether decoded values alias the payload. A copy of such a
	// value is made by its method Clone.
	aliases() bool

	// read returns the statement that sets f from the cursor.
	read(c code, f *field) jen.Code
	// write returns the statement that appends f by the appender.
	write(c code, f *field) jen.Code
	// value returns f as an etw.Value.
	value(c code, f *field) *jen.Statement
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

// A scalar is one value of its own: the common methods of numbers, addresses, GUIDs and
// times.
type scalar struct{}

func (scalar) sizes() (count, length size) { return size{}, size{} }
func (scalar) members() *structType        { return nil }
func (scalar) enum() *enum                 { return nil }
func (scalar) integer() integer            { return integer{} }
func (scalar) aliases() bool               { return false }

// A view is a part of the payload: the common methods of text and arrays.
type view struct{}

func (view) members() *structType { return nil }
func (view) enum() *enum          { return nil }
func (view) integer() integer     { return integer{} }
func (view) aliases() bool        { return true }

// An integer describes a field that holds an integer or an address.
type integer struct {
	sign byte // 's' if it is signed, 'u' if not, and 0 if it is not an integer
	bits int
}

// isArray reports whether programs iterate over fields of kind k.
func isArray(k kind) bool {
	count, _ := k.sizes()
	return count.kind != etw.SizeNone
}

// aliases reports whether one of some decoded fields aliases the payload.
func aliases(fields []*field) bool {
	return slices.ContainsFunc(fields, func(f *field) bool { return f.kind.aliases() })
}

// isRest reports whether fields of kind k hold all bytes that are left.
func isRest(k kind) bool {
	_, length := k.sizes()
	return length.kind == etw.SizeRest
}

// A goType is a type of a field. Two are the same type if they are equal.
type goType struct {
	runtime bool   // it is one of etw
	name    string // else one of the package or of the language
	of      string // the package's type that it is an instance for, or ""
}

// String returns the type as generated code has it.
func (t goType) String() string {
	s := t.name
	if t.runtime {
		s = "etw." + s
	}
	if t.of != "" {
		s += "[" + t.of + "]"
	}
	return s
}

// code returns the type as a part of a statement.
func (t goType) code() *jen.Statement {
	s := id(t.name)
	if t.runtime {
		s = rt(t.name)
	}
	if t.of != "" {
		s.Types(id(t.of))
	}
	return s
}

// code is where a statement stands: in a method of an event or, where owner is
// not nil, of a struct. Both have a cursor c and an appender a; that of a struct is
// a pointer, and with the appender comes the index i of the event's field.
type code struct {
	recv   string // the receiver
	owner  *structType
	fields *jen.Statement // the descriptions of the scope's fields
	found  *jen.Statement // the index in fields, where it is found at run time
}

// x returns field f of the receiver.
//
//go:noinline
func (c code) x(f *field) *jen.Statement { return dot(c.recv, f.goName) }

// set returns the statement that sets f.
func (c code) set(f *field, x jen.Code) *jen.Statement { return c.x(f).Op("=").Add(x) }

// pointer returns the cursor c or the appender a as an argument.
func (c code) pointer(name string) *jen.Statement {
	if c.owner != nil {
		return id(name)
	}
	return addr(name)
}

// index returns the index of the event's field that f is, or is in.
func (c code) index(f *field) *jen.Statement {
	if c.owner != nil {
		return id("i")
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
		return id(s.field.outerName())
	}
	return jen.Uint64().Call(c.x(s.field))
}

// outerArgs returns the arguments that a method of struct s takes beside its first arguments.
func (c code) outerArgs(s *structType) []jen.Code {
	return each.Of(s.outer, func(f *field) jen.Code { return c.size(size{field: f}) })
}

// A size is a count or a length.
type size struct {
	kind  etw.SizeKind
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
	if m.Type == etw.InStruct {
		return b.structKind(in, f, count)
	}
	k, err := b.plainKind(m, count, length)
	if f.has != "" && err == nil {
		k = optionalKind{k, m.When}
	}
	return k, err
}

// plainKind returns the kind of a field that is not a struct and always there.
func (b *builder) plainKind(m *manifest.Field, count, length size) (kind, error) {
	if count.kind != etw.SizeNone {
		return b.arrayKind(m, count, length)
	}
	switch {
	case isText(m.Type):
		return newText(m, length)
	case m.Type == etw.InPointer:
		return pointerKind{}, nil
	case m.Type == etw.InWBEMSID:
		return tokenUserKind{}, nil
	case m.Type == etw.InVarInt, m.Type == etw.InVarUint:
		return varKind{signed: m.Type == etw.InVarInt}, nil
	case m.Type == etw.InGUID:
		return guidKind{}, nil
	case m.Type == etw.InSystemTime:
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
	if m.Kind != etw.SizeField {
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
		if f.kind.integer().sign == 0 {
			return s, fmt.Errorf("%s is not an integer", m.Field.Name)
		}
		s.field = f
		if m.Up > 0 {
			in.owner.takes(f)
		}
		return s, nil
	}
	return s, fmt.Errorf("%s does not come before the field", m.Field.Name)
}
