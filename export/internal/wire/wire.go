// Package wire appends the fields of messages of Protocol Buffers, for the writers of
// formats that are made of such.
package wire

import "encoding/binary"

// AppendInt appends a number, unless it is 0, which is the value of an absent field.
func AppendInt(b []byte, field int, v int64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), uint64(v))
}

// AppendFixed appends a number of 8 bytes, unless it is 0.
func AppendFixed(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, uint64(field)<<3|1), v)
}

// AppendBytes appends a text, or a message, though it be empty.
func AppendBytes[T []byte | string](b []byte, field int, v T) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// AppendPacked appends a list of numbers, unless there are none.
func AppendPacked[T int32 | int64](b []byte, field int, list ...T) []byte {
	if len(list) == 0 {
		return b
	}
	var packed []byte
	for _, v := range list {
		packed = binary.AppendUvarint(packed, uint64(int64(v)))
	}
	return AppendBytes(b, field, packed)
}
