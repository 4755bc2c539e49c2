package gen

import "github.com/dave/jennifer/jen"

// A guidKind is a GUID.
type guidKind struct{ scalar }

func (guidKind) goType() goType { return goType{runtime: true, name: "GUID"} }

func (guidKind) size() int { return 16 }

func (guidKind) least() (extent, bool) { return inBytes(16), true }

func (guidKind) load(off int) *jen.Statement {
	return rt("GUID").Call(id("p").Index(jen.Lit(off), jen.Lit(off+16)))
}

func (guidKind) appendTo(x *jen.Statement) *jen.Statement {
	return jen.Append(id("b"), x.Index(jen.Op(":")).Op("..."))
}

func (guidKind) read(c code, f *field) jen.Code { return c.set(f, dot("c", "GUID").Call()) }

func (guidKind) write(c code, f *field) jen.Code { return dot("a", "GUID").Call(c.x(f)) }

func (guidKind) value(c code, f *field) *jen.Statement { return rt("GUIDValue").Call(c.x(f)) }
