package gen

import "github.com/dave/jennifer/jen"

// A systemTimeKind is a SYSTEMTIME.
type systemTimeKind struct{}

func (systemTimeKind) goType() *jen.Statement { return etw("SystemTime") }

func (systemTimeKind) size() int { return 16 }

func (systemTimeKind) least() (extent, bool) { return extent{bytes: 16}, true }

func (systemTimeKind) load(off int) *jen.Statement { return etw("LoadSystemTime").Call(at(off)) }

func (systemTimeKind) appendTo(x *jen.Statement) *jen.Statement {
	return etw("AppendSystemTime").Call(jen.Id("b"), x)
}

func (systemTimeKind) read(c code, f *field) jen.Code {
	return c.set(f, jen.Id("r").Dot("SystemTime").Call())
}

func (systemTimeKind) write(c code, f *field) jen.Code {
	return jen.Id("w").Dot("SystemTime").Call(c.x(f))
}

func (systemTimeKind) value(c code, f *field) *jen.Statement {
	return etw("SystemTimeValue").Call(c.x(f))
}
