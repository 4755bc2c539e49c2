package gen

import "github.com/dave/jennifer/jen"

// A guidKind is a GUID.
type guidKind struct{}

func (guidKind) goType() *jen.Statement { return etw("GUID") }

func (guidKind) size() int { return 16 }

func (guidKind) least() (extent, bool) { return extent{bytes: 16}, true }

func (guidKind) load(off int) *jen.Statement {
	return etw("GUID").Call(jen.Id("p").Index(jen.Lit(off), jen.Lit(off+16)))
}

func (guidKind) appendTo(x *jen.Statement) *jen.Statement {
	return jen.Append(jen.Id("b"), x.Index(jen.Op(":")).Op("..."))
}

func (guidKind) read(c code, f *field) jen.Code { return c.set(f, jen.Id("r").Dot("GUID").Call()) }

func (guidKind) write(c code, f *field) jen.Code { return jen.Id("w").Dot("GUID").Call(c.x(f)) }

func (guidKind) value(c code, f *field) *jen.Statement { return etw("GUIDValue").Call(c.x(f)) }
