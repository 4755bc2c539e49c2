package gen

import "github.com/dave/jennifer/jen"

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
