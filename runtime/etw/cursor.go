package etw

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A Cursor is a cursor over the variable part of a payload. Generated decoders
// use it. It is sticky: after the first value that the payload cuts off, every
// method returns a zero value at once, and Done reports the error. So decoders
// need no check after each field.
//
// A Cursor keeps no record of the fields read. If it fails, Done walks the payload again by
// the description of the event, to say which field it was.
type Cursor struct {
	p []byte
	// at is the offset of the next byte, or len(p)+1 once failed, which no read
	// can start from. With 32 bits for it a Cursor has four words, and that is
	// as much as the compiler keeps in registers.
	at  int32
	ptr PtrSize
}

// NewCursor returns a Cursor of p that starts at offset off, which is at most
// len(p).
func NewCursor(p []byte, off int, ptr PtrSize) Cursor {
	return Cursor{p[:min(len(p), maxPayload)], int32(off), ptr}
}

// fail makes the Cursor sticky.
func (c *Cursor) fail() { c.at = int32(len(c.p) + 1) }

// Failed reports whether a read has failed.
func (c *Cursor) Failed() bool { return int(c.at) > len(c.p) }

// Offset returns the offset of the next byte.
func (c *Cursor) Offset() int { return int(c.at) }

// PtrSize returns the size of pointers in the payload.
func (c *Cursor) PtrSize() PtrSize { return c.ptr }

// Done returns the offset up to which the payload was read, or 0 and a
// *DecodeError.
func (c *Cursor) Done(d *EventDesc) (int, error) {
	if int(c.at) > len(c.p) {
		return 0, explain(d, c.p, c.ptr)
	}
	return int(c.at), nil
}

// Short returns the *DecodeError for a payload p that is shorter than the fixed
// part of its event.
func Short(d *EventDesc, p []byte, ptr PtrSize) error { return explain(d, p, ptr) }

// Bytes returns the next n bytes.
func (c *Cursor) Bytes(n int) []byte {
	from := int(c.at)
	to := from + n
	if n < 0 || to > len(c.p) || to < from {
		c.fail()
		return nil
	}
	c.at = int32(to)
	return c.p[from:to:to]
}

// Since returns the bytes from offset from up to the next one.
func (c *Cursor) Since(from int) []byte {
	if c.Failed() {
		return nil
	}
	return c.p[from:int(c.at):int(c.at)]
}

// Rest returns all bytes that are left.
func (c *Cursor) Rest() Binary {
	if c.Failed() {
		return nil
	}
	return Binary(c.Bytes(len(c.p) - int(c.at)))
}

// Count returns n as the number of elements of at least min bytes each, or 0 and
// fails if the rest of the payload cannot hold them. It bounds the work that a
// hostile count can cause, before any of it is done.
func (c *Cursor) Count(n uint64, min int) int {
	left := len(c.p) - int(c.at)
	most := uint64(maxEmpty)
	if min > 0 {
		most = uint64(left) / uint64(min)
	}
	if left < 0 || n > most {
		c.fail()
		return 0
	}
	return int(n)
}

// Uint8 reads a byte.
func (c *Cursor) Uint8() uint8 {
	if int(c.at)+1 > len(c.p) {
		c.fail()
		return 0
	}
	v := c.p[int(c.at)]
	c.at++
	return v
}

// Uint16 reads 2 bytes.
func (c *Cursor) Uint16() uint16 {
	if int(c.at)+2 > len(c.p) {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint16(c.p[int(c.at):])
	c.at += 2
	return v
}

// Uint32 reads 4 bytes.
func (c *Cursor) Uint32() uint32 {
	if int(c.at)+4 > len(c.p) {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(c.p[int(c.at):])
	c.at += 4
	return v
}

// Uint64 reads 8 bytes.
func (c *Cursor) Uint64() uint64 {
	if int(c.at)+8 > len(c.p) {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(c.p[int(c.at):])
	c.at += 8
	return v
}

// Int8 reads a byte.
func (c *Cursor) Int8() int8 { return int8(c.Uint8()) }

// Int16 reads 2 bytes.
func (c *Cursor) Int16() int16 { return int16(c.Uint16()) }

// Int32 reads 4 bytes.
func (c *Cursor) Int32() int32 { return int32(c.Uint32()) }

// Int64 reads 8 bytes.
func (c *Cursor) Int64() int64 { return int64(c.Uint64()) }

// Float32 reads 4 bytes.
func (c *Cursor) Float32() float32 { return math.Float32frombits(c.Uint32()) }

// Float64 reads 8 bytes.
func (c *Cursor) Float64() float64 { return math.Float64frombits(c.Uint64()) }

// Bool8 reads 1 byte.
func (c *Cursor) Bool8() Bool8 { return Bool8(c.Uint8()) }

// Bool reads 4 bytes.
func (c *Cursor) Bool() Bool { return Bool(c.Uint32()) }

// FileTime reads 8 bytes.
func (c *Cursor) FileTime() FileTime { return FileTime(c.Uint64()) }

// Pointer reads 4 or 8 bytes.
func (c *Cursor) Pointer() Pointer {
	if c.ptr == Ptr32 {
		return Pointer(c.Uint32())
	}
	return Pointer(c.Uint64())
}

// VarUint reads an integer in LEB128.
func (c *Cursor) VarUint() uint64 {
	if c.Failed() {
		return 0
	}
	v, n := binary.Uvarint(c.p[c.at:])
	if n <= 0 {
		c.fail()
		return 0
	}
	c.at += int32(n)
	return v
}

// VarInt reads an integer in LEB128 whose sign is its lowest bit.
func (c *Cursor) VarInt() int64 {
	v := c.VarUint()
	if v&1 != 0 {
		return ^int64(v >> 1)
	}
	return int64(v >> 1)
}

// GUID reads 16 bytes.
func (c *Cursor) GUID() GUID {
	if b := c.Bytes(16); b != nil {
		return GUID(b)
	}
	return GUID{}
}

// SystemTime reads 16 bytes.
func (c *Cursor) SystemTime() SystemTime {
	if b := c.Bytes(16); b != nil {
		return LoadSystemTime(b)
	}
	return SystemTime{}
}

// SID reads a SID of the length that it gives itself.
func (c *Cursor) SID() SID {
	if c.Failed() {
		return nil
	}
	n := sidLen(c.p[int(c.at):])
	if n < 0 {
		c.fail()
		return nil
	}
	return SID(c.Bytes(n))
}

// TokenUser reads a SID with the prefix that it has in classic events.
func (c *Cursor) TokenUser() TokenUser {
	if int(c.at)+4 > len(c.p) {
		c.fail()
		return TokenUser{}
	}
	if binary.LittleEndian.Uint32(c.p[int(c.at):]) == 0 {
		c.at += 4
		return TokenUser{}
	}
	return TokenUser{User: c.Pointer(), Attributes: c.Pointer(), SID: c.SID()}
}

// UTF16 reads a string that ends at a NUL.
func (c *Cursor) UTF16() UTF16 {
	// This much is inlined into decoders, which leaves one call for a string.
	s, next := cutUTF16(c.p, int(c.at))
	c.at = int32(next)
	return s
}

// ANSI reads a string that ends at a NUL.
func (c *Cursor) ANSI() ANSI {
	if int(c.at) > len(c.p) {
		return nil
	}
	n := bytes.IndexByte(c.p[int(c.at):], 0)
	if n < 0 {
		c.fail()
		return nil
	}
	s := ANSI(c.p[int(c.at) : int(c.at)+n : int(c.at)+n])
	c.at = int32(int(c.at) + n + 1)
	return s
}

// UTF16N reads a string of chars code units.
func (c *Cursor) UTF16N(chars uint64) UTF16 { return UTF16(c.array(chars, 2)) }

// ANSIN reads a string of size bytes.
func (c *Cursor) ANSIN(size uint64) ANSI { return ANSI(c.array(size, 1)) }

// BinaryN reads size bytes.
func (c *Cursor) BinaryN(size uint64) Binary { return Binary(c.array(size, 1)) }

// SIDN reads a SID that takes size bytes.
func (c *Cursor) SIDN(size uint64) SID { return SID(c.array(size, 1)) }

// array returns the bytes of n elements of size bytes, never nil on success.
func (c *Cursor) array(n uint64, size int) []byte {
	left := len(c.p) - int(c.at)
	if left < 0 || n > uint64(left)/uint64(size) {
		c.fail()
		return nil
	}
	end := int(c.at) + int(n)*size
	b := c.p[int(c.at):end:end]
	c.at = int32(end)
	return b
}

// ReadInts reads n integers.
func ReadInts[T Integer](c *Cursor, n uint64) Ints[T] { return Ints[T](c.array(n, sizeOf[T]())) }

// Uint8s reads n elements.
func (c *Cursor) Uint8s(n uint64) Uint8s { return Uint8s(c.array(n, 1)) }

// Uint16s reads n elements.
func (c *Cursor) Uint16s(n uint64) Uint16s { return Uint16s(c.array(n, 2)) }

// Uint32s reads n elements.
func (c *Cursor) Uint32s(n uint64) Uint32s { return Uint32s(c.array(n, 4)) }

// Uint64s reads n elements.
func (c *Cursor) Uint64s(n uint64) Uint64s { return Uint64s(c.array(n, 8)) }

// Int8s reads n elements.
func (c *Cursor) Int8s(n uint64) Int8s { return Int8s(c.array(n, 1)) }

// Int16s reads n elements.
func (c *Cursor) Int16s(n uint64) Int16s { return Int16s(c.array(n, 2)) }

// Int32s reads n elements.
func (c *Cursor) Int32s(n uint64) Int32s { return Int32s(c.array(n, 4)) }

// Int64s reads n elements.
func (c *Cursor) Int64s(n uint64) Int64s { return Int64s(c.array(n, 8)) }

// Float32s reads n elements.
func (c *Cursor) Float32s(n uint64) Float32s { return Float32s(c.array(n, 4)) }

// Float64s reads n elements.
func (c *Cursor) Float64s(n uint64) Float64s { return Float64s(c.array(n, 8)) }

// Bools reads n elements.
func (c *Cursor) Bools(n uint64) Bools { return Bools(c.array(n, 4)) }

// FileTimes reads n elements.
func (c *Cursor) FileTimes(n uint64) FileTimes { return FileTimes(c.array(n, 8)) }

// GUIDs reads n elements.
func (c *Cursor) GUIDs(n uint64) GUIDs { return GUIDs(c.array(n, 16)) }

// SystemTimes reads n elements.
func (c *Cursor) SystemTimes(n uint64) SystemTimes { return SystemTimes(c.array(n, 16)) }

// Pointers reads n elements.
func (c *Cursor) Pointers(n uint64) Pointers {
	if c.ptr == Ptr32 {
		return Pointers{c.array(n, 4), c.ptr}
	}
	return Pointers{c.array(n, 8), c.ptr}
}

// UTF16s reads n strings that each end at a NUL.
func (c *Cursor) UTF16s(n uint64) UTF16s {
	from := int(c.at)
	for range c.Count(n, 2) {
		if c.UTF16(); c.Failed() {
			return UTF16s{}
		}
	}
	return UTF16s{c.list(from, n, untilNUL16)}
}

// ANSIs reads n strings that each end at a NUL.
func (c *Cursor) ANSIs(n uint64) ANSIs {
	from := int(c.at)
	for range c.Count(n, 1) {
		if c.ANSI(); c.Failed() {
			return ANSIs{}
		}
	}
	return ANSIs{c.list(from, n, untilNUL)}
}

// SIDs reads n SIDs of the lengths that they give themselves.
func (c *Cursor) SIDs(n uint64) SIDs {
	from := int(c.at)
	for range c.Count(n, 8) {
		if c.SID(); c.Failed() {
			return SIDs{}
		}
	}
	return SIDs{c.list(from, n, counting)}
}

// UTF16sN reads n strings of chars code units each.
func (c *Cursor) UTF16sN(n, chars uint64) UTF16s { return UTF16s{c.listN(n, chars, 2)} }

// ANSIsN reads n strings of size bytes each.
func (c *Cursor) ANSIsN(n, size uint64) ANSIs { return ANSIs{c.listN(n, size, 1)} }

// BinariesN reads n runs of size bytes each.
func (c *Cursor) BinariesN(n, size uint64) Binaries { return Binaries{c.listN(n, size, 1)} }

// SIDsN reads n SIDs that take size bytes each.
func (c *Cursor) SIDsN(n, size uint64) SIDs { return SIDs{c.listN(n, size, 1)} }

// list returns the bytes read since from as n elements.
func (c *Cursor) list(from int, n uint64, size int32) list {
	if c.Failed() {
		return list{}
	}
	return list{c.p[from:int(c.at):int(c.at)], int32(n), size}
}

// listN reads n elements, each of length units of unit bytes.
func (c *Cursor) listN(n, length uint64, unit int) list {
	left := len(c.p) - int(c.at)
	// The length first: a product of two hostile numbers may overflow. With no
	// elements the length is free.
	if left < 0 || n > 0 && length > uint64(left)/uint64(unit) {
		c.fail()
		return list{}
	}
	if n == 0 {
		length = 0
	}
	size := int(length) * unit
	count := c.Count(n, size)
	from := int(c.at)
	if c.Bytes(count*size) == nil && count*size > 0 {
		return list{}
	}
	return c.list(from, n, int32(size))
}

// counted reads a run of bytes and the number before it.
func (c *Cursor) counted() []byte { return c.Bytes(int(c.Uint16())) }

// CountedUTF16 reads a string.
func (c *Cursor) CountedUTF16() UTF16 { return UTF16(c.counted()) }

// CountedANSI reads a string.
func (c *Cursor) CountedANSI() ANSI { return ANSI(c.counted()) }

// CountedBinary reads bytes.
func (c *Cursor) CountedBinary() Binary { return Binary(c.counted()) }

// CountedUTF16s reads n strings.
func (c *Cursor) CountedUTF16s(n uint64) UTF16s { return UTF16s{c.countedList(n)} }

// CountedANSIs reads n strings.
func (c *Cursor) CountedANSIs(n uint64) ANSIs { return ANSIs{c.countedList(n)} }

// CountedBinaries reads n runs of bytes.
func (c *Cursor) CountedBinaries(n uint64) Binaries { return Binaries{c.countedList(n)} }

func (c *Cursor) countedList(n uint64) list {
	from := c.Offset()
	for range c.Count(n, 2) {
		if c.counted(); c.Failed() {
			return list{}
		}
	}
	return c.list(from, n, prefixed)
}
