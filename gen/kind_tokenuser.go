package gen

import "github.com/dave/jennifer/jen"

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
