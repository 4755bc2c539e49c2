package etw

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"unsafe"
)

// Integer is the constraint of the elements of [Ints].
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Ints is an array of integers: a view of the payload, where they lie
// little-endian and back to back. T may be an enumeration.
type Ints[T Integer] []byte

// The arrays of plain integers, and of the types that are integers.
type (
	Int8s     = Ints[int8]
	Int16s    = Ints[int16]
	Int32s    = Ints[int32]
	Int64s    = Ints[int64]
	Uint8s    = Ints[uint8]
	Uint16s   = Ints[uint16]
	Uint32s   = Ints[uint32]
	Uint64s   = Ints[uint64]
	Bools     = Ints[Bool]
	FileTimes = Ints[FileTime]
)

// MakeInts returns vs as an array, for building an event.
func MakeInts[T Integer](vs ...T) Ints[T] {
	var b []byte
	for _, v := range vs {
		switch unsafe.Sizeof(v) {
		case 1:
			b = append(b, byte(v))
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		default:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// Len returns the number of elements.
func (s Ints[T]) Len() int { return len(s) / sizeOf[T]() }

// At returns element i, which must be in [0, Len).
func (s Ints[T]) At(i int) T {
	switch unsafe.Sizeof(T(0)) { // a constant of each instance
	case 1:
		return T(s[i])
	case 2:
		return T(binary.LittleEndian.Uint16(s[2*i:]))
	case 4:
		return T(binary.LittleEndian.Uint32(s[4*i:]))
	default:
		return T(binary.LittleEndian.Uint64(s[8*i:]))
	}
}

// All iterates over the elements.
func (s Ints[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// Equal reports whether s and t hold the same elements.
func (s Ints[T]) Equal(t Ints[T]) bool { return slices.Equal(s, t) }

// Floats is an array of floating-point numbers: a view of the payload.
type Floats[T float32 | float64] []byte

// The arrays of floating-point numbers.
type (
	Float32s = Floats[float32]
	Float64s = Floats[float64]
)

// MakeFloats returns vs as an array, for building an event.
func MakeFloats[T float32 | float64](vs ...T) Floats[T] {
	var b []byte
	for _, v := range vs {
		if unsafe.Sizeof(v) == 4 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v)))
		}
	}
	return b
}

// Len returns the number of elements.
func (s Floats[T]) Len() int { return len(s) / int(unsafe.Sizeof(T(0))) }

// At returns element i, which must be in [0, Len).
func (s Floats[T]) At(i int) T {
	if unsafe.Sizeof(T(0)) == 4 {
		return T(math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:])))
	}
	return T(math.Float64frombits(binary.LittleEndian.Uint64(s[8*i:])))
}

// All iterates over the elements.
func (s Floats[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// Equal reports whether s and t hold the same bits.
func (s Floats[T]) Equal(t Floats[T]) bool { return slices.Equal(s, t) }

// GUIDs is an array of GUIDs: a view of the payload.
type GUIDs []byte

// MakeGUIDs returns vs as an array, for building an event.
func MakeGUIDs(vs ...GUID) GUIDs {
	var b []byte
	for _, v := range vs {
		b = append(b, v[:]...)
	}
	return b
}

// Len returns the number of elements.
func (s GUIDs) Len() int { return len(s) / 16 }

// At returns element i, which must be in [0, Len).
func (s GUIDs) At(i int) GUID { return GUID(s[16*i:]) }

// All iterates over the elements.
func (s GUIDs) All() iter.Seq[GUID] {
	return func(yield func(GUID) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// Equal reports whether s and t hold the same elements.
func (s GUIDs) Equal(t GUIDs) bool { return slices.Equal(s, t) }

// SystemTimes is an array of SystemTime: a view of the payload.
type SystemTimes []byte

// MakeSystemTimes returns vs as an array, for building an event.
func MakeSystemTimes(vs ...SystemTime) SystemTimes {
	var b []byte
	for _, v := range vs {
		b = AppendSystemTime(b, v)
	}
	return b
}

// Len returns the number of elements.
func (s SystemTimes) Len() int { return len(s) / 16 }

// At returns element i, which must be in [0, Len).
func (s SystemTimes) At(i int) SystemTime { return LoadSystemTime(s[16*i:]) }

// All iterates over the elements.
func (s SystemTimes) All() iter.Seq[SystemTime] {
	return func(yield func(SystemTime) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// Equal reports whether s and t hold the same elements.
func (s SystemTimes) Equal(t SystemTimes) bool { return slices.Equal(s, t) }

// Pointers is an array of pointers: a view of the payload, which knows how wide
// they are.
type Pointers struct {
	p   []byte
	ptr PtrSize
}

// MakePointers returns vs as an array of pointers of the given size, for
// building an event. It fails with ErrPointer if one does not fit.
func MakePointers(ptr PtrSize, vs ...Pointer) (Pointers, error) {
	s := Pointers{ptr: ptr}
	for _, v := range vs {
		if ptr != Ptr32 {
			s.p = binary.LittleEndian.AppendUint64(s.p, uint64(v))
			continue
		}
		if v > math.MaxUint32 {
			return Pointers{}, ErrPointer
		}
		s.p = binary.LittleEndian.AppendUint32(s.p, uint32(v))
	}
	return s, nil
}

// Len returns the number of elements.
func (s Pointers) Len() int { return len(s.p) / s.ptr.Bytes() }

// At returns element i, which must be in [0, Len).
func (s Pointers) At(i int) Pointer { return Pointer(s.ptr.load(s.p, i)) }

// All iterates over the elements.
func (s Pointers) All() iter.Seq[Pointer] {
	return func(yield func(Pointer) bool) {
		for i := range s.Len() {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// Equal reports whether s and t hold the same addresses, of whatever size.
func (s Pointers) Equal(t Pointers) bool {
	if s.Len() != t.Len() {
		return false
	}
	for i := range s.Len() {
		if s.At(i) != t.At(i) {
			return false
		}
	}
	return true
}

// Bytes returns the elements as they lie in the payload.
func (s Pointers) Bytes() []byte { return s.p }

// sizeOf returns the size of a T in bytes.
func sizeOf[T Integer]() int { return int(unsafe.Sizeof(T(0))) }
