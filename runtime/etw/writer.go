package etw

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A Writer appends the fields of a payload to a buffer. Generated encoders use
// it. It is sticky: after the first value that cannot be encoded, nothing is
// appended any more, and Done reports the error. Methods that can fail take the
// index of the field of the event first, to name it in the error.
type Writer struct {
	b     []byte
	start int
	ptr   PtrSize
	field int
	err   error
}

// NewWriter returns a Writer that appends to b.
func NewWriter(b []byte, ptr PtrSize) Writer { return Writer{b: b, start: len(b), ptr: ptr} }

// PtrSize returns the size of pointers in the payload.
func (w *Writer) PtrSize() PtrSize { return w.ptr }

// Done returns the buffer with the payload, or the buffer as it was and an
// *EncodeError.
func (w *Writer) Done(d *EventDesc) ([]byte, error) {
	if w.err != nil {
		name := ""
		if w.field < len(d.Fields) {
			name = d.Fields[w.field].Name
		}
		return w.b[:w.start], &EncodeError{Event: d, Field: name, Err: w.err}
	}
	return w.b, nil
}

// View returns the bytes that were appended, for building the elements of a
// view, or an error.
func (w *Writer) View() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.b[w.start:], nil
}

// Fail makes the Writer fail at field i. Generated code calls it for limits of
// its own.
func (w *Writer) Fail(i int, err error) {
	if w.err == nil {
		w.field, w.err = i, err
	}
}

// check makes the Writer fail at field i with err unless ok, and reports
// whether to go on.
func (w *Writer) check(i int, ok bool, err error) bool {
	if !ok {
		w.Fail(i, err)
	}
	return w.err == nil
}

// Uint8 appends a byte.
func (w *Writer) Uint8(v uint8) {
	if w.err == nil {
		w.b = append(w.b, v)
	}
}

// Uint16 appends 2 bytes.
func (w *Writer) Uint16(v uint16) {
	if w.err == nil {
		w.b = binary.LittleEndian.AppendUint16(w.b, v)
	}
}

// Uint32 appends 4 bytes.
func (w *Writer) Uint32(v uint32) {
	if w.err == nil {
		w.b = binary.LittleEndian.AppendUint32(w.b, v)
	}
}

// Uint64 appends 8 bytes.
func (w *Writer) Uint64(v uint64) {
	if w.err == nil {
		w.b = binary.LittleEndian.AppendUint64(w.b, v)
	}
}

// Int8 appends a byte.
func (w *Writer) Int8(v int8) { w.Uint8(uint8(v)) }

// Int16 appends 2 bytes.
func (w *Writer) Int16(v int16) { w.Uint16(uint16(v)) }

// Int32 appends 4 bytes.
func (w *Writer) Int32(v int32) { w.Uint32(uint32(v)) }

// Int64 appends 8 bytes.
func (w *Writer) Int64(v int64) { w.Uint64(uint64(v)) }

// Float32 appends 4 bytes.
func (w *Writer) Float32(v float32) { w.Uint32(math.Float32bits(v)) }

// Float64 appends 8 bytes.
func (w *Writer) Float64(v float64) { w.Uint64(math.Float64bits(v)) }

// Bool appends 4 bytes.
func (w *Writer) Bool(v Bool) { w.Uint32(uint32(v)) }

// FileTime appends 8 bytes.
func (w *Writer) FileTime(v FileTime) { w.Uint64(uint64(v)) }

// GUID appends 16 bytes.
func (w *Writer) GUID(v GUID) {
	if w.err == nil {
		w.b = append(w.b, v[:]...)
	}
}

// SystemTime appends 16 bytes.
func (w *Writer) SystemTime(v SystemTime) {
	if w.err == nil {
		w.b = AppendSystemTime(w.b, v)
	}
}

// Pointer appends 4 or 8 bytes.
func (w *Writer) Pointer(i int, v Pointer) {
	if w.ptr != Ptr32 {
		w.Uint64(uint64(v))
	} else if w.check(i, v <= math.MaxUint32, ErrPointer) {
		w.Uint32(uint32(v))
	}
}

// SID appends a SID of the length that it gives itself.
func (w *Writer) SID(i int, v SID) {
	if w.check(i, v.Valid(), ErrSID) {
		w.b = append(w.b, v...)
	}
}

// UTF16Z appends a string and a NUL.
func (w *Writer) UTF16Z(i int, v UTF16) {
	if w.check(i, len(v)%2 == 0, ErrLength) && w.check(i, indexNUL16(v, 0) < 0, ErrNUL) {
		w.b = appendNUL16(w.b, v)
	}
}

// ANSIZ appends a string and a NUL.
func (w *Writer) ANSIZ(i int, v ANSI) {
	if w.check(i, bytes.IndexByte(v, 0) < 0, ErrNUL) {
		w.b = append(append(w.b, v...), 0)
	}
}

// UTF16N appends a string of chars code units.
func (w *Writer) UTF16N(i int, v UTF16, chars uint64) {
	if w.check(i, len(v)%2 == 0 && uint64(len(v)/2) == chars, ErrLength) {
		w.b = append(w.b, v...)
	}
}

// ANSIN appends a string of size bytes.
func (w *Writer) ANSIN(i int, v ANSI, size uint64) { w.sized(i, v, size) }

// BinaryN appends size bytes.
func (w *Writer) BinaryN(i int, v Binary, size uint64) { w.sized(i, v, size) }

// SIDN appends a SID that takes size bytes.
func (w *Writer) SIDN(i int, v SID, size uint64) { w.sized(i, v, size) }

// Rest appends the bytes at the end of a payload.
func (w *Writer) Rest(v Binary) {
	if w.err == nil {
		w.b = append(w.b, v...)
	}
}

func (w *Writer) sized(i int, v []byte, size uint64) {
	if w.check(i, uint64(len(v)) == size, ErrLength) {
		w.b = append(w.b, v...)
	}
}

// Array appends n elements of size bytes each.
func (w *Writer) Array(i int, v []byte, n uint64, size int) {
	if w.check(i, len(v)%size == 0 && uint64(len(v)/size) == n, ErrCount) {
		w.b = append(w.b, v...)
	}
}

// WriteInts appends n integers.
func WriteInts[T Integer](w *Writer, i int, v Ints[T], n uint64) { w.Array(i, v, n, sizeOf[T]()) }

// Uint8s appends n elements.
func (w *Writer) Uint8s(i int, v Uint8s, n uint64) { w.Array(i, v, n, 1) }

// Uint16s appends n elements.
func (w *Writer) Uint16s(i int, v Uint16s, n uint64) { w.Array(i, v, n, 2) }

// Uint32s appends n elements.
func (w *Writer) Uint32s(i int, v Uint32s, n uint64) { w.Array(i, v, n, 4) }

// Uint64s appends n elements.
func (w *Writer) Uint64s(i int, v Uint64s, n uint64) { w.Array(i, v, n, 8) }

// Int8s appends n elements.
func (w *Writer) Int8s(i int, v Int8s, n uint64) { w.Array(i, v, n, 1) }

// Int16s appends n elements.
func (w *Writer) Int16s(i int, v Int16s, n uint64) { w.Array(i, v, n, 2) }

// Int32s appends n elements.
func (w *Writer) Int32s(i int, v Int32s, n uint64) { w.Array(i, v, n, 4) }

// Int64s appends n elements.
func (w *Writer) Int64s(i int, v Int64s, n uint64) { w.Array(i, v, n, 8) }

// Float32s appends n elements.
func (w *Writer) Float32s(i int, v Float32s, n uint64) { w.Array(i, v, n, 4) }

// Float64s appends n elements.
func (w *Writer) Float64s(i int, v Float64s, n uint64) { w.Array(i, v, n, 8) }

// Bools appends n elements.
func (w *Writer) Bools(i int, v Bools, n uint64) { w.Array(i, v, n, 4) }

// FileTimes appends n elements.
func (w *Writer) FileTimes(i int, v FileTimes, n uint64) { w.Array(i, v, n, 8) }

// GUIDs appends n elements.
func (w *Writer) GUIDs(i int, v GUIDs, n uint64) { w.Array(i, v, n, 16) }

// SystemTimes appends n elements.
func (w *Writer) SystemTimes(i int, v SystemTimes, n uint64) { w.Array(i, v, n, 16) }

// Pointers appends n elements.
func (w *Writer) Pointers(i int, v Pointers, n uint64) {
	if w.check(i, uint64(v.Len()) == n, ErrCount) && w.check(i, v.ptr == w.ptr || n == 0, ErrPointerSize) {
		w.b = append(w.b, v.p...)
	}
}

// UTF16s appends n strings that each end at a NUL.
func (w *Writer) UTF16s(i int, v UTF16s, n uint64) { w.list(i, v.list, n, untilNUL) }

// ANSIs appends n strings that each end at a NUL.
func (w *Writer) ANSIs(i int, v ANSIs, n uint64) { w.list(i, v.list, n, untilNUL) }

// SIDs appends n SIDs of the lengths that they give themselves.
func (w *Writer) SIDs(i int, v SIDs, n uint64) { w.list(i, v.list, n, untilNUL) }

// UTF16sN appends n strings of chars code units each.
func (w *Writer) UTF16sN(i int, v UTF16s, n, chars uint64) { w.list(i, v.list, n, int64(2*chars)) }

// ANSIsN appends n strings of size bytes each.
func (w *Writer) ANSIsN(i int, v ANSIs, n, size uint64) { w.list(i, v.list, n, int64(size)) }

// BinariesN appends n runs of size bytes each.
func (w *Writer) BinariesN(i int, v Binaries, n, size uint64) { w.list(i, v.list, n, int64(size)) }

// SIDsN appends n SIDs that take size bytes each.
func (w *Writer) SIDsN(i int, v SIDs, n, size uint64) { w.list(i, v.list, n, int64(size)) }

func (w *Writer) list(i int, v list, n uint64, size int64) {
	if w.check(i, uint64(v.n) == n, ErrCount) && w.check(i, int64(v.size) == size || n == 0, ErrLength) {
		w.b = append(w.b, v.p...)
	}
}

// Elements appends the n elements of a generated view, which holds got of them
// in p, for pointers of size ptr.
func (w *Writer) Elements(i int, p []byte, ptr PtrSize, got int, n uint64) {
	if w.check(i, uint64(got) == n, ErrCount) && w.check(i, ptr == w.ptr || got == 0, ErrPointerSize) {
		w.b = append(w.b, p...)
	}
}
