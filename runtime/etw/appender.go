package etw

import (
	"bytes"
	"encoding/binary"
	"math"
)

// An Appender appends the fields of a payload to a buffer. Generated encoders use
// it. It is sticky: after the first value that cannot be encoded, nothing is
// appended any more, and Done reports the error. Methods that can fail take the
// index of the field of the event first, to name it in the error.
type Appender struct {
	b     []byte
	start int
	ptr   PtrSize
	field int
	ended bool // an optional field was left out
	err   error
}

// NewAppender returns an Appender that appends to b.
func NewAppender(b []byte, ptr PtrSize) Appender { return Appender{b: b, start: len(b), ptr: ptr} }

// Done returns the buffer with the payload, or the buffer as it was and an
// *EncodeError.
func (a *Appender) Done(d *EventDesc) ([]byte, error) {
	if a.err != nil {
		name := ""
		if a.field < len(d.Fields) {
			name = d.Fields[a.field].Name
		}
		return a.b[:a.start], &EncodeError{Event: d, Field: name, Err: a.err}
	}
	return a.b, nil
}

// View returns the bytes that were appended, for building the elements of a
// view, or an error.
func (a *Appender) View() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.b[a.start:], nil
}

// Fail makes the Appender fail at field i. Generated code calls it for limits of
// its own.
func (a *Appender) Fail(i int, err error) {
	if a.err == nil {
		a.field, a.err = i, err
	}
}

// check makes the Appender fail at field i with err unless ok, and reports
// whether to go on.
func (a *Appender) check(i int, ok bool, err error) bool {
	if !ok {
		a.Fail(i, err)
	}
	return a.err == nil
}

// Uint8 appends a byte.
func (a *Appender) Uint8(v uint8) {
	if a.err == nil {
		a.b = append(a.b, v)
	}
}

// Uint16 appends 2 bytes.
func (a *Appender) Uint16(v uint16) {
	if a.err == nil {
		a.b = binary.LittleEndian.AppendUint16(a.b, v)
	}
}

// Uint32 appends 4 bytes.
func (a *Appender) Uint32(v uint32) {
	if a.err == nil {
		a.b = binary.LittleEndian.AppendUint32(a.b, v)
	}
}

// Uint64 appends 8 bytes.
func (a *Appender) Uint64(v uint64) {
	if a.err == nil {
		a.b = binary.LittleEndian.AppendUint64(a.b, v)
	}
}

// Int8 appends a byte.
func (a *Appender) Int8(v int8) { a.Uint8(uint8(v)) }

// Int16 appends 2 bytes.
func (a *Appender) Int16(v int16) { a.Uint16(uint16(v)) }

// Int32 appends 4 bytes.
func (a *Appender) Int32(v int32) { a.Uint32(uint32(v)) }

// Int64 appends 8 bytes.
func (a *Appender) Int64(v int64) { a.Uint64(uint64(v)) }

// Float32 appends 4 bytes.
func (a *Appender) Float32(v float32) { a.Uint32(math.Float32bits(v)) }

// Float64 appends 8 bytes.
func (a *Appender) Float64(v float64) { a.Uint64(math.Float64bits(v)) }

// Bool8 appends 1 byte.
func (a *Appender) Bool8(v Bool8) { a.Uint8(uint8(v)) }

// Bool appends 4 bytes.
func (a *Appender) Bool(v Bool) { a.Uint32(uint32(v)) }

// FileTime appends 8 bytes.
func (a *Appender) FileTime(v FileTime) { a.Uint64(uint64(v)) }

// VarUint appends an integer in LEB128, in as few bytes as it takes.
func (a *Appender) VarUint(v uint64) {
	if a.err == nil {
		a.b = binary.AppendUvarint(a.b, v)
	}
}

// VarInt appends an integer in LEB128 whose sign is its lowest bit.
func (a *Appender) VarInt(v int64) {
	if a.err == nil {
		a.b = binary.AppendVarint(a.b, v)
	}
}

// GUID appends 16 bytes.
func (a *Appender) GUID(v GUID) {
	if a.err == nil {
		a.b = append(a.b, v[:]...)
	}
}

// SystemTime appends 16 bytes.
func (a *Appender) SystemTime(v SystemTime) {
	if a.err == nil {
		a.b = AppendSystemTime(a.b, v)
	}
}

// Pointer appends 4 or 8 bytes.
func (a *Appender) Pointer(i int, v Pointer) {
	if a.ptr != Ptr32 {
		a.Uint64(uint64(v))
	} else if a.check(i, v <= math.MaxUint32, ErrPointer) {
		a.Uint32(uint32(v))
	}
}

// SID appends a SID of the length that it gives itself.
func (a *Appender) SID(i int, v SID) {
	if a.check(i, v.Valid(), ErrSID) {
		a.b = append(a.b, v...)
	}
}

// TokenUser appends a SID with the prefix that it has in classic events.
func (a *Appender) TokenUser(i int, v TokenUser) {
	if len(v.SID) == 0 {
		a.Uint32(0)
		return
	}
	if a.check(i, uint32(v.User) != 0, ErrUser) {
		a.Pointer(i, v.User)
		a.Pointer(i, v.Attributes)
		a.SID(i, v.SID)
	}
}

// UTF16Z appends a string and a NUL.
func (a *Appender) UTF16Z(i int, v UTF16) {
	if a.check(i, len(v)%2 == 0, ErrLength) && a.check(i, indexNUL16(v, 0) < 0, ErrNUL) {
		a.b = append(append(a.b, v...), 0, 0)
	}
}

// ANSIZ appends a string and a NUL.
func (a *Appender) ANSIZ(i int, v ANSI) {
	if a.check(i, bytes.IndexByte(v, 0) < 0, ErrNUL) {
		a.b = append(append(a.b, v...), 0)
	}
}

// UTF16N appends a string of chars code units.
func (a *Appender) UTF16N(i int, v UTF16, chars uint64) {
	if a.check(i, len(v)%2 == 0 && uint64(len(v)/2) == chars, ErrLength) {
		a.b = append(a.b, v...)
	}
}

// ANSIN appends a string of size bytes.
func (a *Appender) ANSIN(i int, v ANSI, size uint64) { a.sized(i, v, size) }

// BinaryN appends size bytes.
func (a *Appender) BinaryN(i int, v Binary, size uint64) { a.sized(i, v, size) }

// SIDN appends a SID that takes size bytes.
func (a *Appender) SIDN(i int, v SID, size uint64) { a.sized(i, v, size) }

// Rest appends the bytes at the end of a payload.
func (a *Appender) Rest(v Binary) {
	if a.err == nil {
		a.b = append(a.b, v...)
	}
}

func (a *Appender) sized(i int, v []byte, size uint64) {
	if a.check(i, uint64(len(v)) == size, ErrLength) {
		a.b = append(a.b, v...)
	}
}

// array appends n elements of size bytes each.
func (a *Appender) array(i int, v []byte, n uint64, size int) {
	if a.check(i, len(v)%size == 0 && uint64(len(v)/size) == n, ErrCount) {
		a.b = append(a.b, v...)
	}
}

// AppendInts appends n integers.
func AppendInts[T Integer](a *Appender, i int, v Ints[T], n uint64) { a.array(i, v, n, sizeOf[T]()) }

// Uint8s appends n elements.
func (a *Appender) Uint8s(i int, v Uint8s, n uint64) { a.array(i, v, n, 1) }

// Uint16s appends n elements.
func (a *Appender) Uint16s(i int, v Uint16s, n uint64) { a.array(i, v, n, 2) }

// Uint32s appends n elements.
func (a *Appender) Uint32s(i int, v Uint32s, n uint64) { a.array(i, v, n, 4) }

// Uint64s appends n elements.
func (a *Appender) Uint64s(i int, v Uint64s, n uint64) { a.array(i, v, n, 8) }

// Int8s appends n elements.
func (a *Appender) Int8s(i int, v Int8s, n uint64) { a.array(i, v, n, 1) }

// Int16s appends n elements.
func (a *Appender) Int16s(i int, v Int16s, n uint64) { a.array(i, v, n, 2) }

// Int32s appends n elements.
func (a *Appender) Int32s(i int, v Int32s, n uint64) { a.array(i, v, n, 4) }

// Int64s appends n elements.
func (a *Appender) Int64s(i int, v Int64s, n uint64) { a.array(i, v, n, 8) }

// Float32s appends n elements.
func (a *Appender) Float32s(i int, v Float32s, n uint64) { a.array(i, v, n, 4) }

// Float64s appends n elements.
func (a *Appender) Float64s(i int, v Float64s, n uint64) { a.array(i, v, n, 8) }

// Bools appends n elements.
func (a *Appender) Bools(i int, v Bools, n uint64) { a.array(i, v, n, 4) }

// FileTimes appends n elements.
func (a *Appender) FileTimes(i int, v FileTimes, n uint64) { a.array(i, v, n, 8) }

// GUIDs appends n elements.
func (a *Appender) GUIDs(i int, v GUIDs, n uint64) { a.array(i, v, n, 16) }

// SystemTimes appends n elements.
func (a *Appender) SystemTimes(i int, v SystemTimes, n uint64) { a.array(i, v, n, 16) }

// Pointers appends n elements.
func (a *Appender) Pointers(i int, v Pointers, n uint64) {
	if a.check(i, uint64(v.Len()) == n, ErrCount) && a.check(i, v.ptr == a.ptr || n == 0, ErrPointerSize) {
		a.b = append(a.b, v.p...)
	}
}

// UTF16s appends n strings that each end at a NUL.
func (a *Appender) UTF16s(i int, v UTF16s, n uint64) { a.list(i, v.list, n, untilNUL16) }

// ANSIs appends n strings that each end at a NUL.
func (a *Appender) ANSIs(i int, v ANSIs, n uint64) { a.list(i, v.list, n, untilNUL) }

// SIDs appends n SIDs of the lengths that they give themselves.
func (a *Appender) SIDs(i int, v SIDs, n uint64) { a.list(i, v.list, n, counting) }

// UTF16sN appends n strings of chars code units each.
func (a *Appender) UTF16sN(i int, v UTF16s, n, chars uint64) { a.list(i, v.list, n, int64(2*chars)) }

// ANSIsN appends n strings of size bytes each.
func (a *Appender) ANSIsN(i int, v ANSIs, n, size uint64) { a.list(i, v.list, n, int64(size)) }

// BinariesN appends n runs of size bytes each.
func (a *Appender) BinariesN(i int, v Binaries, n, size uint64) { a.list(i, v.list, n, int64(size)) }

// SIDsN appends n SIDs that take size bytes each.
func (a *Appender) SIDsN(i int, v SIDs, n, size uint64) { a.list(i, v.list, n, int64(size)) }

func (a *Appender) list(i int, v list, n uint64, size int64) {
	if a.check(i, uint64(v.n) == n, ErrCount) && a.check(i, int64(v.size) == size || n == 0, ErrLength) {
		a.b = append(a.b, v.p...)
	}
}

// Elements appends the n elements of a generated view, which holds got of them
// in p, for pointers of size ptr.
func (a *Appender) Elements(i int, p []byte, ptr PtrSize, got int, n uint64) {
	if a.check(i, uint64(got) == n, ErrCount) && a.check(i, ptr == a.ptr || got == 0, ErrPointerSize) {
		a.b = append(a.b, p...)
	}
}

// CountedUTF16 appends a string.
func (a *Appender) CountedUTF16(i int, v UTF16) { a.counted(i, v) }

// CountedANSI appends a string.
func (a *Appender) CountedANSI(i int, v ANSI) { a.counted(i, v) }

// CountedBinary appends bytes.
func (a *Appender) CountedBinary(i int, v Binary) { a.counted(i, v) }

func (a *Appender) counted(i int, v []byte) {
	if a.check(i, len(v) <= math.MaxUint16, ErrLength) {
		a.b = appendCounted(a.b, v)
	}
}

// CountedUTF16s appends n strings.
func (a *Appender) CountedUTF16s(i int, v UTF16s, n uint64) { a.list(i, v.list, n, prefixed) }

// CountedANSIs appends n strings.
func (a *Appender) CountedANSIs(i int, v ANSIs, n uint64) { a.list(i, v.list, n, prefixed) }

// CountedBinaries appends n runs of bytes.
func (a *Appender) CountedBinaries(i int, v Binaries, n uint64) { a.list(i, v.list, n, prefixed) }

func appendCounted(b, v []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(v))), v...)
}
