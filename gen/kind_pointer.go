package gen

import "github.com/dave/jennifer/jen"

// A pointerKind is an address: 4 or 8 bytes, as the record says.
type pointerKind struct{}

func (pointerKind) goType() *jen.Statement { return etw("Pointer") }

func (pointerKind) least() (extent, bool) { return extent{pointers: 1}, true }

func (pointerKind) read(c code, f *field) jen.Code {
	return c.set(f, jen.Id("r").Dot("Pointer").Call())
}

func (pointerKind) write(c code, f *field) jen.Code {
	return jen.Id("w").Dot("Pointer").Call(c.index(f), c.x(f))
}

func (pointerKind) value(c code, f *field) *jen.Statement { return etw("PointerValue").Call(c.x(f)) }
