package ecma335

import (
	"encoding/binary"
	"iter"
	"math"
	"strings"
)

// An AttributeRow is an attribute that something has.
type AttributeRow struct {
	Constructor Token // a MethodDef or MemberRef
	Value       []byte
}

// Attributes returns the attributes of something.
func (m *Metadata) Attributes(of Token) iter.Seq[AttributeRow] {
	return func(yield func(AttributeRow) bool) {
		for row := range m.Refer(CustomAttribute, 0, of) {
			a := AttributeRow{m.Token(CustomAttribute, row, 1), m.Blob(m.Cell(CustomAttribute, row, 2))}
			if !yield(a) {
				return
			}
		}
	}
}

// An Attribute is the contents of an attribute. Values are of type bool, int64, uint64,
// float64, string, nil (a string or array that is null) or []any. Types are strings.
type Attribute struct {
	Fixed []any
	Named []Named
}

// A Named is a property or field of an attribute.
type Named struct {
	Name  string
	Value any
}

// Get returns the value of a property or field, and whether the attribute sets it.
func (a *Attribute) Get(name string) (any, bool) {
	for _, n := range a.Named {
		if n.Name == name {
			return n.Value, true
		}
	}
	return nil, false
}

const attributeProlog = 1

// ParseAttribute reads the value of an attribute by the signature of its constructor.
// How many bytes an enumeration takes is not said in it: enumSize returns that, by the
// type's name without its assembly, or by its token where the signature has one.
func ParseAttribute(b []byte, sig *MethodSig, enumSize func(name string, t Token) int) (*Attribute, bool) {
	r := &attributeReader{Cursor{b: b}, enumSize}
	if p := r.Bytes(2); p == nil || binary.LittleEndian.Uint16(p) != attributeProlog {
		return nil, false
	}
	a := &Attribute{}
	for _, p := range sig.Params {
		a.Fixed = append(a.Fixed, r.value(r.fixedKind(p.Unmodified()), 0))
	}
	var n uint16
	if p := r.Bytes(2); p != nil {
		n = binary.LittleEndian.Uint16(p)
	}
	for range n {
		if where := ElementType(r.Byte()); where != attributeField && where != attributeField+1 {
			r.fail()
		}
		kind := r.kind(0)
		name, _ := r.text().(string)
		value := r.value(kind, 0)
		if r.failed {
			break
		}
		a.Named = append(a.Named, Named{name, value})
	}
	return a, !r.failed
}

type attributeReader struct {
	Cursor
	enumSize func(string, Token) int
}

// An attributeKind is the type of a value.
type attributeKind struct {
	kind ElementType
	size int // of an enumeration
	elem *attributeKind
}

// fixedKind returns the type of an argument of the constructor.
func (r *attributeReader) fixedKind(t Type) attributeKind {
	switch t.Kind {
	case SZArray:
		elem := r.fixedKind(t.Elem.Unmodified())
		return attributeKind{kind: SZArray, elem: &elem}
	case ValueType:
		return attributeKind{kind: enumeration, size: r.enumSize("", t.Token)}
	case Class:
		return attributeKind{kind: systemType}
	case Object:
		return attributeKind{kind: boxed}
	}
	return attributeKind{kind: t.Kind}
}

// kind reads a type, which properties and boxed values have in front.
func (r *attributeReader) kind(depth int) attributeKind {
	k := attributeKind{kind: ElementType(r.Byte())}
	if depth++; depth > deepest {
		r.fail()
	}
	switch {
	case r.failed:
	case k.kind == SZArray:
		elem := r.kind(depth)
		k.elem = &elem
	case k.kind == enumeration:
		name, _ := r.text().(string)
		name, _, _ = strings.Cut(name, ",")
		k.size = r.enumSize(strings.TrimSpace(name), 0)
	}
	return k
}

// text reads a string, or nil.
func (r *attributeReader) text() any {
	if r.peek() == 0xff {
		r.Byte()
		return nil
	}
	return string(r.Bytes(r.Uint()))
}

// integerSizes has the bytes of each type of integer.
var integerSizes = map[ElementType]int{Char: 2, I1: 1, U1: 1, I2: 2, U2: 2, I4: 4, U4: 4, I8: 8, U8: 8}

// value reads a value.
func (r *attributeReader) value(k attributeKind, depth int) any {
	if depth++; depth > deepest {
		r.fail()
	}
	if r.failed {
		return nil
	}
	switch k.kind {
	case Boolean:
		return r.Byte() != 0
	case String, systemType:
		return r.text()
	case boxed:
		return r.value(r.kind(depth), depth)
	case SZArray:
		return r.array(*k.elem, depth)
	case R4:
		return float64(math.Float32frombits(uint32(r.integer(4, false).(uint64))))
	case R8:
		return math.Float64frombits(r.integer(8, false).(uint64))
	case enumeration:
		return r.integer(k.size, true)
	}
	size := integerSizes[k.kind]
	return r.integer(size, k.kind != Char && k.kind&1 == 0)
}

// array reads the elements of an array.
func (r *attributeReader) array(elem attributeKind, depth int) any {
	b := r.Bytes(4)
	if b == nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(b)
	if n == math.MaxUint32 {
		return nil
	}
	all := []any{}
	for range n {
		v := r.value(elem, depth)
		if r.failed {
			return nil
		}
		all = append(all, v)
	}
	return all
}

// integer reads a number of 1, 2, 4 or 8 bytes.
func (r *attributeReader) integer(size int, signed bool) any {
	if size != 1 && size != 2 && size != 4 && size != 8 {
		r.fail()
	}
	var b [8]byte
	copy(b[:], r.Bytes(uint32(size)))
	v := binary.LittleEndian.Uint64(b[:])
	if signed {
		return signExtend(v, size)
	}
	return v
}

// signExtend makes a signed number of one of fewer bytes.
func signExtend(v uint64, size int) int64 {
	shift := 64 - 8*size
	return int64(v<<shift) >> shift
}
