package etw

import "math"

// The values that generated code returns from FieldValue.

// IntValue returns a value of a signed integer.
func IntValue(v int64) Value { return Value{kind: ValueInt, num: uint64(v)} }

// UintValue returns a value of an unsigned integer.
func UintValue(v uint64) Value { return Value{kind: ValueUint, num: v} }

// FloatValue returns a value of double precision.
func FloatValue(v float64) Value { return Value{kind: ValueFloat, num: math.Float64bits(v)} }

// Float32Value returns a value of single precision.
func Float32Value(v float32) Value {
	return Value{kind: ValueFloat32, num: uint64(math.Float32bits(v))}
}

// BoolValue returns a value of a Boolean.
func BoolValue(v Bool) Value { return Value{kind: ValueBool, num: uint64(v)} }

// Bool8Value returns a value of a Boolean of one byte.
func Bool8Value(v Bool8) Value { return Value{kind: ValueBool, num: uint64(v)} }

// PointerValue returns a value of an address.
func PointerValue(v Pointer) Value { return Value{kind: ValuePointer, num: uint64(v)} }

// GUIDValue returns a value of a GUID.
func GUIDValue(v GUID) Value { return value16(ValueGUID, v[:]) }

// FileTimeValue returns a value of a time.
func FileTimeValue(v FileTime) Value { return Value{kind: ValueFileTime, num: uint64(v)} }

// SystemTimeValue returns a value of a date and time.
func SystemTimeValue(v SystemTime) Value {
	var b [16]byte
	return value16(ValueSystemTime, AppendSystemTime(b[:0], v))
}

// UTF16Value returns a value of UTF-16 text.
func UTF16Value(v UTF16) Value { return Value{kind: ValueUTF16, p: v} }

// ANSIValue returns a value of text in bytes.
func ANSIValue(v ANSI) Value { return Value{kind: ValueANSI, p: v} }

// BinaryValue returns a value of bytes.
func BinaryValue(v Binary) Value { return Value{kind: ValueBinary, p: v} }

// SIDValue returns a value of a security identifier.
func SIDValue(v SID) Value { return Value{kind: ValueSID, p: v} }

// ArrayValue returns a value of the n elements of the array that d describes,
// which p holds as they lie in a payload. in is the event or struct that the
// array is a field of. An array of characters is a value of text.
func ArrayValue(d *FieldDesc, p []byte, n int, ptr PtrSize, in interface{ FieldValue(i int) Value }) Value {
	if kind := d.characters(); kind != ValueNone {
		return Value{kind: kind, p: p, desc: d}
	}
	return Value{kind: ValueArray, ptr: ptr, num: span(0, len(p)), aux: uint64(n), p: p, desc: d, src: in}
}

// StructValue returns a value of the struct that d describes, whose members v
// has.
func StructValue(d *FieldDesc, v interface{ FieldValue(i int) Value }) Value {
	return Value{kind: ValueStruct, desc: d, src: v}
}
