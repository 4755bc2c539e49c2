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

// A tokenUserKind is a SID with the prefix of classic events.
type tokenUserKind struct{ view }

func (tokenUserKind) goType() goType { return goType{runtime: true, name: "TokenUser"} }

func (tokenUserKind) sizes() (count, length size) { return size{}, size{} }

func (tokenUserKind) least() (extent, bool) { return inBytes(4), false }

func (tokenUserKind) read(c code, f *field) jen.Code {
	return c.set(f, dot("c", "TokenUser").Call())
}

func (tokenUserKind) write(c code, f *field) jen.Code {
	return dot("a", "TokenUser").Call(c.index(f), c.x(f))
}

func (tokenUserKind) value(c code, f *field) *jen.Statement {
	return rt("SIDValue").Call(c.x(f).Dot("SID"))
}

// A systemTimeKind is a SYSTEMTIME.
type systemTimeKind struct{ scalar }

func (systemTimeKind) goType() goType { return goType{runtime: true, name: "SystemTime"} }

func (systemTimeKind) size() int { return 16 }

func (systemTimeKind) least() (extent, bool) { return inBytes(16), true }

func (systemTimeKind) load(off int) *jen.Statement { return rt("LoadSystemTime").Call(at(off)) }

func (systemTimeKind) appendTo(x *jen.Statement) *jen.Statement {
	return rt("AppendSystemTime").Call(id("b"), x)
}

func (systemTimeKind) read(c code, f *field) jen.Code {
	return c.set(f, dot("c", "SystemTime").Call())
}

func (systemTimeKind) write(c code, f *field) jen.Code {
	return dot("a", "SystemTime").Call(c.x(f))
}

func (systemTimeKind) value(c code, f *field) *jen.Statement {
	return rt("SystemTimeValue").Call(c.x(f))
}
