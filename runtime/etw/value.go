package etw

import (
	"encoding/binary"
	"iter"
	"math"
)

// A ValueKind is the kind of a [Value].
type ValueKind uint8

// The kinds of values.
const (
	ValueNone       ValueKind = iota
	ValueInt                  // Int
	ValueUint                 // Uint
	ValueFloat                // Float
	ValueFloat32              // Float, of single precision
	ValueBool                 // Uint, Bool
	ValuePointer              // Uint
	ValueGUID                 // GUID
	ValueFileTime             // FileTime
	ValueSystemTime           // SystemTime
	ValueUTF16                // UTF16, Bytes
	ValueANSI                 // ANSI, Bytes
	ValueBinary               // Bytes
	ValueSID                  // SID, Bytes
	ValueDecimal              // Bytes: the 16 bytes of a .NET decimal
	ValueArray                // Len, Elements
	ValueStruct               // Len, Members, Desc
)

var valueKindNames = [...]string{
	"none", "int", "uint", "float", "float32", "bool", "pointer", "GUID", "FileTime", "SystemTime",
	"UTF16", "ANSI", "binary", "SID", "decimal", "array", "struct",
}

// String returns the name of k.
func (k ValueKind) String() string {
	if int(k) < len(valueKindNames) {
		return valueKindNames[k]
	}
	return "unknown"
}

// A Value is the value of a field: of one of the kinds of [ValueKind]. Values of
// text, bytes, arrays and structs alias the payload. The zero Value stands for no value.
type Value struct {
	kind ValueKind
	ptr  PtrSize
	// sized says that length is the length of each element of an array, whatever
	// its description refers to.
	sized  bool
	length uint32

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

func value16(kind ValueKind, p []byte) Value {
	return Value{kind: kind, num: binary.LittleEndian.Uint64(p), aux: binary.LittleEndian.Uint64(p[8:])}
}

// of makes v a value of the field d, unless it knows its field.
func (v *Value) of(d *FieldDesc) {
	if v.desc == nil {
		v.desc = d
	}
}

// noField describes values of which nothing is known.
var noField FieldDesc

// field returns the description of v.
func (v *Value) field() *FieldDesc {
	if v.desc == nil {
		return &noField
	}
	return v.desc
}

// Kind returns the kind of v.
func (v Value) Kind() ValueKind { return v.kind }

// Uint returns an integer, a Boolean or an address as an unsigned number, and 0
// for other kinds.
func (v Value) Uint() uint64 {
	switch v.kind {
	case ValueUint, ValueInt, ValueBool, ValuePointer, ValueFileTime:
		return v.num
	}
	return 0
}

// Int is Uint as a signed number.
func (v Value) Int() int64 { return int64(v.Uint()) }

// Bool reports whether v is a Boolean that is true.
func (v Value) Bool() bool { return v.kind == ValueBool && v.num != 0 }

// Float returns a floating-point number, and 0 for other kinds.
func (v Value) Float() float64 {
	switch v.kind {
	case ValueFloat:
		return math.Float64frombits(v.num)
	case ValueFloat32:
		return float64(math.Float32frombits(uint32(v.num)))
	}
	return 0
}

// GUID returns a GUID, and the zero one for other kinds.
func (v Value) GUID() (g GUID) {
	if v.kind == ValueGUID {
		binary.LittleEndian.PutUint64(g[0:], v.num)
		binary.LittleEndian.PutUint64(g[8:], v.aux)
	}
	return g
}

// FileTime returns a time, and 0 for other kinds.
func (v Value) FileTime() FileTime {
	if v.kind == ValueFileTime {
		return FileTime(v.num)
	}
	return 0
}

// SystemTime returns a date and time, and the zero one for other kinds.
func (v Value) SystemTime() SystemTime {
	if v.kind != ValueSystemTime {
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
	case ValueUTF16, ValueANSI, ValueBinary, ValueSID, ValueDecimal:
		return v.p
	case ValueArray, ValueStruct:
		if v.p == nil {
			return nil
		}
		return v.p[v.start():v.end():v.end()]
	}
	return nil
}

// Desc returns the description of the field that v is the value of, or an element
// of. It is nil for values that a generated event returns from FieldValue, unless
// they are arrays or structs; [Field] and [Fields] give it to all.
func (v Value) Desc() *FieldDesc { return v.desc }

// Len returns the number of elements of an array, or of members of a struct, and
// 0 for other kinds.
func (v Value) Len() int {
	switch v.kind {
	case ValueArray:
		return int(v.aux)
	case ValueStruct:
		return len(v.desc.Fields)
	}
	return 0
}

// Elements iterates over the elements of an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.kind != ValueArray {
			return
		}
		w := walker{p: v.p, off: v.start(), ptr: v.ptr, outer: v.src, lenient: true}
		length := v.desc.Length
		if v.sized {
			length = Size{Kind: SizeConst, N: v.length}
		}
		for range v.aux {
			start := w.off
			if !w.element(v.desc, length) {
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
	if v.kind == ValueStruct {
		for j, m := range v.Members() {
			if j == i {
				return m
			}
		}
	}
	return Value{}
}

// Members iterates over the members of a struct, with their indices in
// Desc().Fields. One that the payload does not have is the zero Value.
func (v Value) Members() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.kind != ValueStruct {
			return
		}
		if v.p == nil { // a struct by value
			for i := range v.desc.Fields {
				m := v.src.FieldValue(i)
				if m.of(&v.desc.Fields[i]); !yield(i, m) {
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
	case ValueUTF16, ValueANSI, ValueBinary, ValueSID, ValueDecimal:
		return string(v.p) == string(w.p)
	case ValueArray:
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
		_, more := next()
		return !more
	case ValueStruct:
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
