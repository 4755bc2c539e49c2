package etw

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A Reader is a cursor over the variable part of a payload. Generated decoders
// use it. It is sticky: after the first value that the payload cuts off, every
// method returns a zero value at once, and Done reports the error. So decoders
// need no check after each field.
//
// A Reader keeps no record of what it read. If it fails, Done walks the payload
// again by the description of the event, to say which field it was.
type Reader struct {
	p []byte
	// at is the offset of the next byte, or len(p)+1 once failed, which no read
	// can start from. With 32 bits for it a Reader has four words, and that is
	// as much as the compiler keeps in registers.
	at  int32
	ptr PtrSize
}

// maxPayload is the most that a Reader reads of a payload.
const maxPayload = math.MaxInt32 - 16

// NewReader returns a Reader of p that starts at offset off, which is at most
// len(p).
func NewReader(p []byte, off int, ptr PtrSize) Reader {
	return Reader{p[:min(len(p), maxPayload)], int32(off), ptr}
}

// fail makes the Reader sticky.
func (r *Reader) fail() { r.at = int32(len(r.p) + 1) }

// Failed reports whether a read has failed.
func (r *Reader) Failed() bool { return int(r.at) > len(r.p) }

// Fail makes the reader fail. Generated code calls it for limits of its own.
func (r *Reader) Fail() { r.fail() }

// Offset returns the offset of the next byte.
func (r *Reader) Offset() int { return int(r.at) }

// PtrSize returns the size of pointers in the payload.
func (r *Reader) PtrSize() PtrSize { return r.ptr }

// Done returns the offset up to which the payload was read, or 0 and a
// *DecodeError.
func (r *Reader) Done(d *EventDesc) (int, error) {
	if int(r.at) > len(r.p) {
		return 0, explain(d, r.p, r.ptr)
	}
	return int(r.at), nil
}

// Short returns the *DecodeError for a payload p that is shorter than the fixed
// part of its event.
func Short(d *EventDesc, p []byte, ptr PtrSize) error { return explain(d, p, ptr) }

// Bytes returns the next n bytes.
func (r *Reader) Bytes(n int) []byte {
	from := int(r.at)
	to := from + n
	if n < 0 || to > len(r.p) || to < from {
		r.fail()
		return nil
	}
	r.at = int32(to)
	return r.p[from:to:to]
}

// Since returns the bytes from offset from up to the next one.
func (r *Reader) Since(from int) []byte {
	if r.Failed() {
		return nil
	}
	return r.p[from:int(r.at):int(r.at)]
}

// Rest returns all bytes that are left.
func (r *Reader) Rest() Binary {
	if r.Failed() {
		return nil
	}
	return Binary(r.Bytes(len(r.p) - int(r.at)))
}

// Count returns n as the number of elements of at least min bytes each, or 0 and
// fails if the rest of the payload cannot hold them. It bounds the work that a
// hostile count can cause, before any of it is done.
func (r *Reader) Count(n uint64, min int) int {
	if !countFits(n, min, len(r.p)-int(r.at)) {
		r.fail()
		return 0
	}
	return int(n)
}

// maxEmpty is the greatest number of elements without a byte that a payload may
// have, so that a few bytes cannot ask for billions of empty strings.
const maxEmpty = 1024

// countFits reports whether n elements of at least min bytes fit in left.
func countFits(n uint64, min, left int) bool {
	if left < 0 {
		return false
	}
	if min == 0 {
		return n <= maxEmpty
	}
	return n <= uint64(left)/uint64(min)
}

// Uint8 reads a byte.
func (r *Reader) Uint8() uint8 {
	if int(r.at)+1 > len(r.p) {
		r.fail()
		return 0
	}
	v := r.p[int(r.at)]
	r.at++
	return v
}

// Uint16 reads 2 bytes.
func (r *Reader) Uint16() uint16 {
	if int(r.at)+2 > len(r.p) {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint16(r.p[int(r.at):])
	r.at += 2
	return v
}

// Uint32 reads 4 bytes.
func (r *Reader) Uint32() uint32 {
	if int(r.at)+4 > len(r.p) {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(r.p[int(r.at):])
	r.at += 4
	return v
}

// Uint64 reads 8 bytes.
func (r *Reader) Uint64() uint64 {
	if int(r.at)+8 > len(r.p) {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(r.p[int(r.at):])
	r.at += 8
	return v
}

// Int8 reads a byte.
func (r *Reader) Int8() int8 { return int8(r.Uint8()) }

// Int16 reads 2 bytes.
func (r *Reader) Int16() int16 { return int16(r.Uint16()) }

// Int32 reads 4 bytes.
func (r *Reader) Int32() int32 { return int32(r.Uint32()) }

// Int64 reads 8 bytes.
func (r *Reader) Int64() int64 { return int64(r.Uint64()) }

// Float32 reads 4 bytes.
func (r *Reader) Float32() float32 { return math.Float32frombits(r.Uint32()) }

// Float64 reads 8 bytes.
func (r *Reader) Float64() float64 { return math.Float64frombits(r.Uint64()) }

// Bool reads 4 bytes.
func (r *Reader) Bool() Bool { return Bool(r.Uint32()) }

// FileTime reads 8 bytes.
func (r *Reader) FileTime() FileTime { return FileTime(r.Uint64()) }

// Pointer reads 4 or 8 bytes.
func (r *Reader) Pointer() Pointer {
	if r.ptr == Ptr32 {
		return Pointer(r.Uint32())
	}
	return Pointer(r.Uint64())
}

// GUID reads 16 bytes.
func (r *Reader) GUID() GUID {
	if b := r.Bytes(16); b != nil {
		return GUID(b)
	}
	return GUID{}
}

// SystemTime reads 16 bytes.
func (r *Reader) SystemTime() SystemTime {
	if b := r.Bytes(16); b != nil {
		return LoadSystemTime(b)
	}
	return SystemTime{}
}

// SID reads a SID of the length that it gives itself.
func (r *Reader) SID() SID {
	if r.Failed() {
		return nil
	}
	n := sidLen(r.p[int(r.at):])
	if n < 0 {
		r.fail()
		return nil
	}
	return SID(r.Bytes(n))
}

// UTF16 reads a string that ends at a NUL.
func (r *Reader) UTF16() UTF16 {
	// This much is inlined into decoders, which leaves one call for a string.
	s, next := cutUTF16(r.p, int(r.at))
	r.at = int32(next)
	return s
}

// ANSI reads a string that ends at a NUL.
func (r *Reader) ANSI() ANSI {
	if int(r.at) > len(r.p) {
		return nil
	}
	n := bytes.IndexByte(r.p[int(r.at):], 0)
	if n < 0 {
		r.fail()
		return nil
	}
	s := ANSI(r.p[int(r.at) : int(r.at)+n : int(r.at)+n])
	r.at = int32(int(r.at) + n + 1)
	return s
}

// UTF16N reads a string of chars code units.
func (r *Reader) UTF16N(chars uint64) UTF16 { return UTF16(r.array(chars, 2)) }

// ANSIN reads a string of size bytes.
func (r *Reader) ANSIN(size uint64) ANSI { return ANSI(r.array(size, 1)) }

// BinaryN reads size bytes.
func (r *Reader) BinaryN(size uint64) Binary { return Binary(r.array(size, 1)) }

// SIDN reads a SID that takes size bytes.
func (r *Reader) SIDN(size uint64) SID { return SID(r.array(size, 1)) }

// array returns the bytes of n elements of size bytes, never nil on success.
func (r *Reader) array(n uint64, size int) []byte {
	left := len(r.p) - int(r.at)
	if left < 0 || n > uint64(left)/uint64(size) {
		r.fail()
		return nil
	}
	end := int(r.at) + int(n)*size
	b := r.p[int(r.at):end:end]
	r.at = int32(end)
	return b
}

// Array returns the bytes of n elements of size bytes each, which must be at
// least 1.
func (r *Reader) Array(n uint64, size int) []byte { return r.array(n, size) }

// ReadInts reads n integers.
func ReadInts[T Integer](r *Reader, n uint64) Ints[T] { return Ints[T](r.array(n, sizeOf[T]())) }

// Uint8s reads n elements.
func (r *Reader) Uint8s(n uint64) Uint8s { return Uint8s(r.array(n, 1)) }

// Uint16s reads n elements.
func (r *Reader) Uint16s(n uint64) Uint16s { return Uint16s(r.array(n, 2)) }

// Uint32s reads n elements.
func (r *Reader) Uint32s(n uint64) Uint32s { return Uint32s(r.array(n, 4)) }

// Uint64s reads n elements.
func (r *Reader) Uint64s(n uint64) Uint64s { return Uint64s(r.array(n, 8)) }

// Int8s reads n elements.
func (r *Reader) Int8s(n uint64) Int8s { return Int8s(r.array(n, 1)) }

// Int16s reads n elements.
func (r *Reader) Int16s(n uint64) Int16s { return Int16s(r.array(n, 2)) }

// Int32s reads n elements.
func (r *Reader) Int32s(n uint64) Int32s { return Int32s(r.array(n, 4)) }

// Int64s reads n elements.
func (r *Reader) Int64s(n uint64) Int64s { return Int64s(r.array(n, 8)) }

// Float32s reads n elements.
func (r *Reader) Float32s(n uint64) Float32s { return Float32s(r.array(n, 4)) }

// Float64s reads n elements.
func (r *Reader) Float64s(n uint64) Float64s { return Float64s(r.array(n, 8)) }

// Bools reads n elements.
func (r *Reader) Bools(n uint64) Bools { return Bools(r.array(n, 4)) }

// FileTimes reads n elements.
func (r *Reader) FileTimes(n uint64) FileTimes { return FileTimes(r.array(n, 8)) }

// GUIDs reads n elements.
func (r *Reader) GUIDs(n uint64) GUIDs { return GUIDs(r.array(n, 16)) }

// SystemTimes reads n elements.
func (r *Reader) SystemTimes(n uint64) SystemTimes { return SystemTimes(r.array(n, 16)) }

// Pointers reads n elements.
func (r *Reader) Pointers(n uint64) Pointers {
	if r.ptr == Ptr32 {
		return Pointers{r.array(n, 4), r.ptr}
	}
	return Pointers{r.array(n, 8), r.ptr}
}

// UTF16s reads n strings that each end at a NUL.
func (r *Reader) UTF16s(n uint64) UTF16s {
	from := int(r.at)
	for range r.Count(n, 2) {
		if r.UTF16(); r.Failed() {
			return UTF16s{}
		}
	}
	return UTF16s{r.list(from, n, untilNUL)}
}

// ANSIs reads n strings that each end at a NUL.
func (r *Reader) ANSIs(n uint64) ANSIs {
	from := int(r.at)
	for range r.Count(n, 1) {
		if r.ANSI(); r.Failed() {
			return ANSIs{}
		}
	}
	return ANSIs{r.list(from, n, untilNUL)}
}

// SIDs reads n SIDs of the lengths that they give themselves.
func (r *Reader) SIDs(n uint64) SIDs {
	from := int(r.at)
	for range r.Count(n, 8) {
		if r.SID(); r.Failed() {
			return SIDs{}
		}
	}
	return SIDs{r.list(from, n, untilNUL)}
}

// UTF16sN reads n strings of chars code units each.
func (r *Reader) UTF16sN(n, chars uint64) UTF16s { return UTF16s{r.listN(n, chars, 2)} }

// ANSIsN reads n strings of size bytes each.
func (r *Reader) ANSIsN(n, size uint64) ANSIs { return ANSIs{r.listN(n, size, 1)} }

// BinariesN reads n runs of size bytes each.
func (r *Reader) BinariesN(n, size uint64) Binaries { return Binaries{r.listN(n, size, 1)} }

// SIDsN reads n SIDs that take size bytes each.
func (r *Reader) SIDsN(n, size uint64) SIDs { return SIDs{r.listN(n, size, 1)} }

// list returns what was read since from as n elements.
func (r *Reader) list(from int, n uint64, size int32) list {
	if r.Failed() {
		return list{}
	}
	return list{r.p[from:int(r.at):int(r.at)], int32(n), size}
}

// listN reads n elements, each of length units of unit bytes.
func (r *Reader) listN(n, length uint64, unit int) list {
	left := len(r.p) - int(r.at)
	// The length first: a product of two hostile numbers may overflow. With no
	// elements the length is free.
	if left < 0 || n > 0 && length > uint64(left)/uint64(unit) {
		r.fail()
		return list{}
	}
	if n == 0 {
		length = 0
	}
	size := int(length) * unit
	count := r.Count(n, size)
	from := int(r.at)
	if r.Bytes(count*size) == nil && count*size > 0 {
		return list{}
	}
	return r.list(from, n, int32(size))
}
