package gen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A numberKind is a number of fixed size. Its Go type is one of the language, of
// the runtime, or of a map.
type numberKind struct {
	scalar
	bytes  int
	goName string // "" if the type is one of etw, with the name of the method
	method string // of the cursor and the appender
	make   string // of etw: makes a Value
	wide   string // what make takes
	values *enum  // of a field with a map, whose type is then the field's
}

// numbers holds the kinds of the types that are numbers.
var numbers = map[etw.InType]numberKind{
	etw.InInt8:     {bytes: 1, goName: "int8", method: "Int8", make: "IntValue", wide: "int64"},
	etw.InUInt8:    {bytes: 1, goName: "uint8", method: "Uint8", make: "UintValue", wide: "uint64"},
	etw.InInt16:    {bytes: 2, goName: "int16", method: "Int16", make: "IntValue", wide: "int64"},
	etw.InUInt16:   {bytes: 2, goName: "uint16", method: "Uint16", make: "UintValue", wide: "uint64"},
	etw.InInt32:    {bytes: 4, goName: "int32", method: "Int32", make: "IntValue", wide: "int64"},
	etw.InUInt32:   {bytes: 4, goName: "uint32", method: "Uint32", make: "UintValue", wide: "uint64"},
	etw.InHexInt32: {bytes: 4, goName: "uint32", method: "Uint32", make: "UintValue", wide: "uint64"},
	etw.InInt64:    {bytes: 8, goName: "int64", method: "Int64", make: "IntValue", wide: "int64"},
	etw.InUInt64:   {bytes: 8, goName: "uint64", method: "Uint64", make: "UintValue", wide: "uint64"},
	etw.InHexInt64: {bytes: 8, goName: "uint64", method: "Uint64", make: "UintValue", wide: "uint64"},
	etw.InFloat:    {bytes: 4, goName: "float32", method: "Float32", make: "Float32Value", wide: "float32"},
	etw.InDouble:   {bytes: 8, goName: "float64", method: "Float64", make: "FloatValue", wide: "float64"},
	etw.InBoolean:  {bytes: 4, method: "Bool", make: "BoolValue"},
	etw.InBool8:    {bytes: 1, method: "Bool8", make: "Bool8Value"},
	etw.InFileTime: {bytes: 8, method: "FileTime", make: "FileTimeValue"},
}

// number returns the kind of a number.
func (b *builder) number(m *manifest.Field) (kind, error) {
	k, ok := numbers[m.Type]
	if !ok {
		return nil, fmt.Errorf("fields of type %s are not generated", m.Type)
	}
	if m.Map != nil && manifest.CanCount(m.Type) {
		k.values = b.enum(m.Map, 8*k.bytes)
	}
	return k, nil
}

func (k numberKind) goType() goType {
	switch {
	case k.values != nil:
		return goType{name: k.values.goName}
	case k.goName == "":
		return goType{runtime: true, name: k.method}
	}
	return goType{name: k.goName}
}

func (k numberKind) enum() *enum { return k.values }

func (k numberKind) integer() integer {
	switch k.wide {
	case "uint64":
		return integer{'u', 8 * k.bytes}
	case "int64":
		return integer{'s', 8 * k.bytes}
	}
	return integer{}
}

func (k numberKind) size() int { return k.bytes }

func (k numberKind) least() (extent, bool) { return inBytes(k.bytes), true }

// wire returns the unsigned type of the same size.
func (k numberKind) wire() string { return fmt.Sprintf("uint%d", 8*k.bytes) }

// load is the value in p: e.Count = binary.LittleEndian.Uint32(p[0:]).
func (k numberKind) load(off int) *jen.Statement {
	x := le(fmt.Sprintf("Uint%d", 8*k.bytes)).Call(at(off))
	if k.bytes == 1 {
		x = id("p").Index(jen.Lit(off))
	}
	switch {
	case k.isFloat():
		return jen.Qual("math", k.method+"frombits").Call(x)
	case k.values == nil && k.goName == k.wire():
		return x
	}
	return k.goType().code().Call(x)
}

func (k numberKind) isFloat() bool { return k.goName == "float32" || k.goName == "float64" }

// appendTo appends to b: binary.LittleEndian.AppendUint32(b, e.Count).
func (k numberKind) appendTo(x *jen.Statement) *jen.Statement {
	switch {
	case k.isFloat():
		x = jen.Qual("math", k.method+"bits").Call(x)
	case k.values != nil || k.goName != k.wire():
		x = id(k.wire()).Call(x)
	}
	if k.bytes == 1 {
		return jen.Append(id("b"), x)
	}
	return le(fmt.Sprintf("AppendUint%d", 8*k.bytes)).Call(id("b"), x)
}

func (k numberKind) read(c code, f *field) jen.Code {
	x := dot("c", k.method).Call()
	if k.values != nil {
		x = k.goType().code().Call(x)
	}
	return c.set(f, x)
}

func (k numberKind) write(c code, f *field) jen.Code {
	x := c.x(f)
	if k.values != nil {
		x = id(k.goName).Call(x)
	}
	return dot("a", k.method).Call(x)
}

func (k numberKind) value(c code, f *field) *jen.Statement {
	x := c.x(f)
	if k.values != nil || k.wide != k.goName {
		x = id(k.wide).Call(x)
	}
	return rt(k.make).Call(x)
}
