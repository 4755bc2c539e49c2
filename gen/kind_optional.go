package gen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An optionalKind is a field that not all payloads have. A second field of the
// struct says whether the payload had it. In all else it is like any other.
type optionalKind struct {
	kind
	when etw.When
}

func (k optionalKind) least() (extent, bool) {
	if k.when.Left > 0 {
		return extent{}, false
	}
	x, exact := k.kind.least()
	if k.when.Ptr == etw.Ptr32 {
		x.wide = 0
	} else {
		x.narrow = 0
	}
	return x, exact
}

// read reads the field if it is there. The decoder of the struct has made all of it zero
// before.
func (k optionalKind) read(c code, f *field) jen.Code {
	is := dot("c", "Left").Call(jen.Lit(int(k.when.Left)))
	if k.when.Left == 0 {
		is = k.byPointers("c")
	}
	return jen.If(c.has(f).Op("=").Add(is), c.has(f)).Block(k.kind.read(c, f))
}

func (k optionalKind) write(c code, f *field) jen.Code {
	is := dot("a", "Optional").Call(c.index(f), c.has(f))
	if k.when.Left == 0 {
		is = k.byPointers("a")
	}
	return jen.If(is).Block(k.kind.write(c, f))
}

// byPointers returns whether the pointers of cursor or appender are of the size
// that the field is for.
func (k optionalKind) byPointers(on string) *jen.Statement {
	is := dot(on, "Wide").Call()
	if k.when.Ptr == etw.Ptr32 {
		return jen.Op("!").Add(is)
	}
	return is
}

// isOptional reports whether one of some fields is.
func isOptional(fields []*field) bool {
	return slices.ContainsFunc(fields, func(f *field) bool { return f.has != "" })
}

// has returns whether the payload had the optional field f.
func (c code) has(f *field) *jen.Statement { return dot(c.recv, f.has) }
