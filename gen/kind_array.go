package gen

import (
	"errors"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// arrayKind returns the kind of an array of anything but structs.
func (b *builder) arrayKind(m *manifest.Field, count, length size) (kind, error) {
	switch {
	case isText(m.Type):
		if count.kind == etw.SizeRest {
			return nil, errors.New("only elements of fixed size can take the rest of a payload")
		}
		one, err := newText(m, length)
		if err != nil {
			return nil, err
		}
		text, ok := one.(textKind)
		if !ok {
			return nil, errors.New("the elements need a length")
		}
		return textArray{textType: text.textType, count: count, length: length}, nil
	case m.Type == etw.InPointer:
		return pointerArray{count: count}, nil
	case m.Type == etw.InGUID:
		return fixedArray{one: guidKind{}, many: "GUIDs", count: count}, nil
	case m.Type == etw.InSystemTime:
		return fixedArray{one: systemTimeKind{}, many: "SystemTimes", count: count}, nil
	}
	switch m.Type {
	case etw.InBool8:
		return nil, errors.New("an array of Booleans that take one byte")
	case etw.InVarInt, etw.InVarUint:
		return nil, errors.New("an array of integers whose sizes vary")
	}
	one, err := b.number(m)
	if err != nil {
		return nil, err
	}
	n := one.(numberKind)
	return fixedArray{one: n, many: n.method + "s", count: count}, nil
}

// A fixedArray is a view of numbers, GUIDs or times.
type fixedArray struct {
	view
	one   fixedKind
	many  string // the type, and the method of cursor and appender
	count size
}

func (k fixedArray) goType() goType {
	if e := k.enum(); e != nil {
		return goType{runtime: true, name: "Ints", of: e.goName}
	}
	return goType{runtime: true, name: k.many}
}

func (k fixedArray) least() (extent, bool) {
	return inBytes(k.count.n * k.one.size()), k.count.kind == etw.SizeConst
}

func (k fixedArray) sizes() (count, length size) { return k.count, size{} }

func (k fixedArray) enum() *enum { return k.one.enum() }

// n returns the number of elements to read.
func (k fixedArray) n(c code) *jen.Statement {
	if k.count.kind == etw.SizeRest {
		return dot("c", "RestCount").Call(jen.Lit(k.one.size()))
	}
	return c.size(k.count)
}

func (k fixedArray) read(c code, f *field) jen.Code {
	if e := k.enum(); e != nil {
		return c.set(f, rt("ReadInts").Types(id(e.goName)).Call(c.pointer("c"), k.n(c)))
	}
	return c.set(f, dot("c", k.many).Call(k.n(c)))
}

func (k fixedArray) write(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == etw.SizeRest {
		n = jen.Uint64().Call(c.x(f).Dot("Len").Call())
	}
	if k.enum() != nil {
		return rt("AppendInts").Call(c.pointer("a"), c.index(f), c.x(f), n)
	}
	return dot("a", k.many).Call(c.index(f), c.x(f), n)
}

func (k fixedArray) value(c code, f *field) *jen.Statement {
	return rt("ArrayValue").Call(c.desc(f), c.x(f), c.x(f).Dot("Len").Call(), jen.Lit(0), id(c.recv))
}

// A pointerArray is a view of addresses.
type pointerArray struct {
	view
	count size
}

func (pointerArray) goType() goType { return goType{runtime: true, name: "Pointers"} }

func (k pointerArray) sizes() (count, length size) { return k.count, size{} }

func (k pointerArray) least() (extent, bool) {
	return inPointers(k.count.n), k.count.kind == etw.SizeConst
}

func (k pointerArray) read(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == etw.SizeRest {
		n = dot("c", "RestCount").Call(dot("c", "PtrSize").Call().Dot("Bytes").Call())
	}
	return c.set(f, dot("c", "Pointers").Call(n))
}

func (k pointerArray) write(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == etw.SizeRest {
		n = jen.Uint64().Call(c.x(f).Dot("Len").Call())
	}
	return dot("a", "Pointers").Call(c.index(f), c.x(f), n)
}

func (k pointerArray) value(c code, f *field) *jen.Statement {
	return rt("ArrayValue").Call(c.desc(f), c.x(f).Dot("Bytes").Call(), c.x(f).Dot("Len").Call(),
		c.x(f).Dot("PtrSize").Call(), id(c.recv))
}

// A textArray is a view of strings, binary values or SIDs.
type textArray struct {
	view
	textType
	count  size
	length size
}

func (k textArray) goType() goType { return goType{runtime: true, name: k.many} }

func (k textArray) sizes() (count, length size) { return k.count, k.length }

func (k textArray) least() (extent, bool) {
	x, exact := leastText(k.textType, k.length)
	return x.times(k.count.n), exact && k.count.kind == etw.SizeConst
}

// call returns a call of a method of cursor or appender.
func (k textArray) call(c code, on string, args ...jen.Code) *jen.Statement {
	method := k.prefix + k.many
	args = append(args, c.size(k.count))
	if k.length.kind != etw.SizeNone {
		method += "N"
		args = append(args, c.size(k.length))
	}
	return dot(on, method).Call(args...)
}

func (k textArray) read(c code, f *field) jen.Code { return c.set(f, k.call(c, "c")) }

func (k textArray) write(c code, f *field) jen.Code { return k.call(c, "a", c.index(f), c.x(f)) }

func (k textArray) value(c code, f *field) *jen.Statement {
	return rt("ListValue").Call(c.desc(f), c.x(f))
}
