package etw

import (
	"encoding/binary"
	"iter"
	"math"
)

// ValueKind says what a [Value] is.
type ValueKind uint8

// The kinds of values.
const (
	NoValue             ValueKind = iota
	IntValueKind                  // Int
	UintValueKind                 // Uint
	FloatValueKind                // Float
	Float32ValueKind              // Float, of single precision
	BoolValueKind                 // Uint, Bool
	PointerValueKind              // Uint
	GUIDValueKind                 // GUID
	FileTimeValueKind             // FileTime
	SystemTimeValueKind           // SystemTime
	UTF16ValueKind                // UTF16, Bytes
	ANSIValueKind                 // ANSI, Bytes
	BinaryValueKind               // Bytes
	SIDValueKind                  // SID, Bytes
	DecimalValueKind              // Bytes: the 16 bytes of a .NET decimal
	ArrayValueKind                // Len, Elements
	StructValueKind               // Len, Field, Desc
)

// A Value is the value of a field: of one of the kinds of [ValueKind]. Values of
// text, bytes, arrays and structs alias the payload. The zero Value is none.
type Value struct {
	kind ValueKind
	ptr  PtrSize
	num  uint64 // the number; of an array or struct in a payload, its span
	aux  uint64 // second half of 16 bytes; of an array, the number of elements
	p    []byte // the bytes; of an array or struct, the payload
	desc *FieldDesc
	src  fielder // of a struct by value, its members; of others, what they are in
}

// span packs the offsets from which and up to which an array or struct lies.
func span(start, end int) uint64 { return uint64(start) | uint64(end)<<32 }

func (v Value) start() int { return int(v.num & 0xffffffff) }
func (v Value) end() int   { return int(v.num >> 32) }

// A fielder has values by the index of their description.
type fielder interface{ FieldValue(i int) Value }

// IntValue returns a value of a signed integer.
func IntValue(v int64) Value { return Value{kind: IntValueKind, num: uint64(v)} }

// UintValue returns a value of an unsigned integer.
func UintValue(v uint64) Value { return Value{kind: UintValueKind, num: v} }

// FloatValue returns a value of double precision.
func FloatValue(v float64) Value { return Value{kind: FloatValueKind, num: math.Float64bits(v)} }

// Float32Value returns a value of single precision.
func Float32Value(v float32) Value {
	return Value{kind: Float32ValueKind, num: uint64(math.Float32bits(v))}
}

// BoolValue returns a value of a Boolean.
func BoolValue(v Bool) Value { return Value{kind: BoolValueKind, num: uint64(v)} }

// PointerValue returns a value of an address.
func PointerValue(v Pointer) Value { return Value{kind: PointerValueKind, num: uint64(v)} }

// GUIDValue returns a value of a GUID.
func GUIDValue(v GUID) Value { return value16(GUIDValueKind, v[:]) }

// FileTimeValue returns a value of a time.
func FileTimeValue(v FileTime) Value { return Value{kind: FileTimeValueKind, num: uint64(v)} }

// SystemTimeValue returns a value of a date and time.
func SystemTimeValue(v SystemTime) Value {
	var b [16]byte
	return value16(SystemTimeValueKind, AppendSystemTime(b[:0], v))
}

// UTF16Value returns a value of UTF-16 text.
func UTF16Value(v UTF16) Value { return Value{kind: UTF16ValueKind, p: v} }

// ANSIValue returns a value of text in bytes.
func ANSIValue(v ANSI) Value { return Value{kind: ANSIValueKind, p: v} }

// BinaryValue returns a value of bytes.
func BinaryValue(v Binary) Value { return Value{kind: BinaryValueKind, p: v} }

// SIDValue returns a value of a security identifier.
func SIDValue(v SID) Value { return Value{kind: SIDValueKind, p: v} }

// ArrayValue returns a value of the n elements of the array that d describes,
// which p holds as they lie in a payload. in is the event or struct that the
// array is a field of.
func ArrayValue(d *FieldDesc, p []byte, n int, ptr PtrSize, in interface{ FieldValue(i int) Value }) Value {
	return Value{kind: ArrayValueKind, ptr: ptr, num: span(0, len(p)), aux: uint64(n), p: p, desc: d, src: in}
}

// StructValue returns a value of the struct that d describes, whose members v
// has.
func StructValue(d *FieldDesc, v interface{ FieldValue(i int) Value }) Value {
	return Value{kind: StructValueKind, desc: d, src: v}
}

func value16(kind ValueKind, p []byte) Value {
	return Value{kind: kind, num: binary.LittleEndian.Uint64(p), aux: binary.LittleEndian.Uint64(p[8:])}
}

// Kind returns what v is.
func (v Value) Kind() ValueKind { return v.kind }

// Uint returns an integer, a Boolean or an address as an unsigned number, and 0
// for other kinds.
func (v Value) Uint() uint64 {
	switch v.kind {
	case UintValueKind, IntValueKind, BoolValueKind, PointerValueKind, FileTimeValueKind:
		return v.num
	}
	return 0
}

// Int is Uint as a signed number.
func (v Value) Int() int64 { return int64(v.Uint()) }

// Bool reports whether v is a Boolean that is true.
func (v Value) Bool() bool { return v.kind == BoolValueKind && v.num != 0 }

// Float returns a floating-point number, and 0 for other kinds.
func (v Value) Float() float64 {
	switch v.kind {
	case FloatValueKind:
		return math.Float64frombits(v.num)
	case Float32ValueKind:
		return float64(math.Float32frombits(uint32(v.num)))
	}
	return 0
}

// GUID returns a GUID, and the zero one for other kinds.
func (v Value) GUID() (g GUID) {
	if v.kind == GUIDValueKind {
		binary.LittleEndian.PutUint64(g[0:], v.num)
		binary.LittleEndian.PutUint64(g[8:], v.aux)
	}
	return g
}

// FileTime returns a time, and 0 for other kinds.
func (v Value) FileTime() FileTime {
	if v.kind == FileTimeValueKind {
		return FileTime(v.num)
	}
	return 0
}

// SystemTime returns a date and time, and the zero one for other kinds.
func (v Value) SystemTime() SystemTime {
	if v.kind != SystemTimeValueKind {
		return SystemTime{}
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[0:], v.num)
	binary.LittleEndian.PutUint64(b[8:], v.aux)
	return LoadSystemTime(b[:])
}

// Bytes returns the bytes of a value of text, bytes, a SID or a decimal, and of
// an array or struct in a payload, as they lie there. It is nil for other kinds.
func (v Value) Bytes() []byte {
	switch v.kind {
	case UTF16ValueKind, ANSIValueKind, BinaryValueKind, SIDValueKind, DecimalValueKind:
		return v.p
	case ArrayValueKind, StructValueKind:
		if v.p == nil {
			return nil
		}
		return v.p[v.start():v.end():v.end()]
	}
	return nil
}

// Desc returns the description of an array or struct, and nil for other kinds.
func (v Value) Desc() *FieldDesc { return v.desc }

// Len returns the number of elements of an array, or of members of a struct, and
// 0 for other kinds.
func (v Value) Len() int {
	switch v.kind {
	case ArrayValueKind:
		return int(v.aux)
	case StructValueKind:
		return len(v.desc.Fields)
	}
	return 0
}

// Elements iterates over the elements of an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.kind != ArrayValueKind {
			return
		}
		w := walker{p: v.p, off: v.start(), ptr: v.ptr, outer: v.src, lenient: true}
		for range v.aux {
			start := w.off
			if !w.element(v.desc, v.desc.Length) {
				return
			}
			if !yield(elementValue(v.desc, v.p, start, w.off, v.ptr, v.src)) {
				return
			}
		}
	}
}

// FieldValue returns member i of a struct. For all members of a struct in a
// payload, [Value.Members] is faster.
func (v Value) FieldValue(i int) Value {
	if v.kind == StructValueKind {
		for j, m := range v.Members() {
			if j == i {
				return m
			}
		}
	}
	return Value{}
}

// Members iterates over the members of a struct, with their indices in
// Desc().Fields.
func (v Value) Members() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.kind != StructValueKind {
			return
		}
		if v.p == nil { // a struct by value
			for i := range v.desc.Fields {
				if !yield(i, v.src.FieldValue(i)) {
					return
				}
			}
			return
		}
		w := walker{p: v.p, ptr: v.ptr, outer: v.src, lenient: true}
		w.open(v.desc.Fields, v.start())
		for i := range v.desc.Fields {
			if !w.next() {
				return
			}
			if !yield(i, w.value(0, i, &v)) {
				return
			}
		}
	}
}

// Equal reports whether v and w are the same: of one kind, and with the same
// value. Floating-point numbers are compared by their bits.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case UTF16ValueKind, ANSIValueKind, BinaryValueKind, SIDValueKind, DecimalValueKind:
		return string(v.p) == string(w.p)
	case ArrayValueKind:
		if v.Len() != w.Len() {
			return false
		}
		next, stop := iter.Pull(w.Elements())
		defer stop()
		for a := range v.Elements() {
			if b, ok := next(); !ok || !a.Equal(b) {
				return false
			}
		}
		return true
	case StructValueKind:
		if v.Len() != w.Len() {
			return false
		}
		for i, a := range v.Members() {
			if !a.Equal(w.FieldValue(i)) {
				return false
			}
		}
		return true
	}
	return v.num == w.num && v.aux == w.aux
}
