package gen

import "github.com/dave/jennifer/jen"

// A varKind is an integer that takes as many bytes as its value needs.
type varKind struct {
	scalar
	signed bool
}

func (k varKind) goType() goType {
	if k.signed {
		return goType{name: "int64"}
	}
	return goType{name: "uint64"}
}

func (varKind) least() (extent, bool) { return inBytes(1), false }

// method returns the name of the method of cursor and appender.
func (k varKind) method() string {
	if k.signed {
		return "VarInt"
	}
	return "VarUint"
}

func (k varKind) read(c code, f *field) jen.Code {
	return c.set(f, id("c").Dot(k.method()).Call())
}

func (k varKind) write(c code, f *field) jen.Code {
	return id("a").Dot(k.method()).Call(c.x(f))
}

func (k varKind) value(c code, f *field) *jen.Statement {
	if k.signed {
		return rt("IntValue").Call(c.x(f))
	}
	return rt("UintValue").Call(c.x(f))
}
