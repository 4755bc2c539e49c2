package gen

import "github.com/dave/jennifer/jen"

// A pointerKind is an address: 4 or 8 bytes, as the record says.
type pointerKind struct{ scalar }

func (pointerKind) goType() goType { return goType{runtime: true, name: "Pointer"} }

func (pointerKind) integer() integer { return integer{'u', 64} }

func (pointerKind) least() (extent, bool) { return inPointers(1), true }

func (pointerKind) read(c code, f *field) jen.Code {
	return c.set(f, dot("c", "Pointer").Call())
}

func (pointerKind) write(c code, f *field) jen.Code {
	return dot("a", "Pointer").Call(c.index(f), c.x(f))
}

func (pointerKind) value(c code, f *field) *jen.Statement { return rt("PointerValue").Call(c.x(f)) }
