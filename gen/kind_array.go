package gen

import (
	"errors"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// arrayKind returns the kind of an array of anything but structs.
func (b *builder) arrayKind(m *manifest.Field, count, length size) (kind, error) {
	switch {
	case isText(m.Type):
		if count.kind == manifest.RestSize {
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
		return textArray{text.textType, count, length}, nil
	case m.Type == manifest.Pointer:
		return pointerArray{count}, nil
	case m.Type == manifest.GUIDType:
		return fixedArray{one: guidKind{}, many: "GUIDs", count: count}, nil
	case m.Type == manifest.SystemTime:
		return fixedArray{one: systemTimeKind{}, many: "SystemTimes", count: count}, nil
	}
	one, err := b.number(m)
	if err != nil {
		return nil, err
	}
	n := one.(numberKind)
	return fixedArray{one: n, many: n.method + "s", count: count, enum: n.enum}, nil
}

// A fixedArray is a view of numbers, GUIDs or times.
type fixedArray struct {
	one   fixedKind
	many  string // the type, and the method of cursor and writer
	count size
	enum  *enum // of the elements
}

func (fixedArray) isSequence() {}

func (k fixedArray) goType() *jen.Statement {
	if k.enum != nil {
		return etw("Ints").Types(jen.Id(k.enum.goName))
	}
	return etw(k.many)
}

func (k fixedArray) least() (extent, bool) {
	return extent{bytes: k.count.n * k.one.size()}, k.count.kind == manifest.ConstSize
}

// n returns the number of elements to read.
func (k fixedArray) n(c code) *jen.Statement {
	if k.count.kind == manifest.RestSize {
		return jen.Id("r").Dot("RestCount").Call(jen.Lit(k.one.size()))
	}
	return c.size(k.count)
}

func (k fixedArray) read(c code, f *field) jen.Code {
	if k.enum != nil {
		return c.set(f, etw("ReadInts").Types(jen.Id(k.enum.goName)).Call(c.pointer("r"), k.n(c)))
	}
	return c.set(f, jen.Id("r").Dot(k.many).Call(k.n(c)))
}

func (k fixedArray) write(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == manifest.RestSize {
		n = jen.Uint64().Call(c.x(f).Dot("Len").Call())
	}
	if k.enum != nil {
		return etw("WriteInts").Call(c.pointer("w"), c.index(f), c.x(f), n)
	}
	return jen.Id("w").Dot(k.many).Call(c.index(f), c.x(f), n)
}

func (k fixedArray) value(c code, f *field) *jen.Statement {
	return etw("ArrayValue").Call(c.desc(f), c.x(f), c.x(f).Dot("Len").Call(), jen.Lit(0), jen.Id(c.recv))
}

// A pointerArray is a view of addresses.
type pointerArray struct{ count size }

func (pointerArray) isSequence() {}

func (pointerArray) goType() *jen.Statement { return etw("Pointers") }

func (k pointerArray) least() (extent, bool) {
	return extent{pointers: k.count.n}, k.count.kind == manifest.ConstSize
}

func (k pointerArray) read(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == manifest.RestSize {
		n = jen.Id("r").Dot("RestCount").Call(jen.Id("r").Dot("PtrSize").Call().Dot("Bytes").Call())
	}
	return c.set(f, jen.Id("r").Dot("Pointers").Call(n))
}

func (k pointerArray) write(c code, f *field) jen.Code {
	n := c.size(k.count)
	if k.count.kind == manifest.RestSize {
		n = jen.Uint64().Call(c.x(f).Dot("Len").Call())
	}
	return jen.Id("w").Dot("Pointers").Call(c.index(f), c.x(f), n)
}

func (k pointerArray) value(c code, f *field) *jen.Statement {
	return etw("ArrayValue").Call(c.desc(f), c.x(f).Dot("Bytes").Call(), c.x(f).Dot("Len").Call(),
		c.x(f).Dot("PtrSize").Call(), jen.Id(c.recv))
}

// A textArray is a view of strings, binary values or SIDs.
type textArray struct {
	textType
	count  size
	length size
}

func (textArray) isSequence() {}

func (k textArray) goType() *jen.Statement { return etw(k.many) }

func (k textArray) least() (extent, bool) {
	x, exact := leastText(k.textType, k.length)
	return x.times(k.count.n), exact && k.count.kind == manifest.ConstSize
}

// call returns a call of a method of cursor or writer.
func (k textArray) call(c code, on string, args ...jen.Code) *jen.Statement {
	method := k.prefix + k.many
	args = append(args, c.size(k.count))
	if k.length.kind != manifest.NoSize {
		method += "N"
		args = append(args, c.size(k.length))
	}
	return jen.Id(on).Dot(method).Call(args...)
}

func (k textArray) read(c code, f *field) jen.Code { return c.set(f, k.call(c, "r")) }

func (k textArray) write(c code, f *field) jen.Code { return k.call(c, "w", c.index(f), c.x(f)) }

func (k textArray) value(c code, f *field) *jen.Statement {
	return etw("ArrayValue").Call(c.desc(f), c.x(f).Dot("Bytes").Call(), c.x(f).Dot("Len").Call(), jen.Lit(0), jen.Id(c.recv))
}
