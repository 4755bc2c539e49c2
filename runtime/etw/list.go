package etw

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
)

// The sizes of elements that say themselves how long they are.
const (
	untilNUL   = -1 // to a NUL
	untilNUL16 = -2 // to a NUL of two bytes
	prefixed   = -3 // after a uint16 with the number of bytes
	counting   = -4 // as long as a SID counts itself
)

// A list is an array whose elements are runs of bytes: n of them in p, each of
// size bytes or as long as they say.
type list struct {
	p    []byte
	n    int32
	size int32
}

func (l list) equal(m list) bool {
	return l.n == m.n && l.size == m.size && bytes.Equal(l.p, m.p)
}

// asList returns the common part of all arrays of runs of bytes.
func (l list) asList() list { return l }

// Bytes returns the elements as they lie in the payload, with the terminators
// of those that have one.
func (l list) Bytes() []byte { return l.p }

// Len returns the number of elements.
func (l list) Len() int { return int(l.n) }

// elements iterates over the elements.
func elements[T ~[]byte](l list) iter.Seq[T] {
	return func(yield func(T) bool) {
		p := l.p
		for range l.n {
			n, end := int(l.size), 0 // of the element, and of what ends it
			switch l.size {
			case untilNUL:
				n, end = bytes.IndexByte(p, 0), 1
			case untilNUL16:
				n, end = indexNUL16(p, 0), 2
			case prefixed:
				p, n = p[2:], int(binary.LittleEndian.Uint16(p))
			case counting:
				n = sidLen(p)
			}
			if !yield(T(p[:n:n])) {
				return
			}
			p = p[n+end:]
		}
	}
}

// UTF16s is an array of UTF-16 strings: a view of the payload.
type UTF16s struct{ list }

// MakeUTF16s returns vs as an array of strings that each end at a NUL, for
// building an event. It fails with ErrNUL if one contains a NUL.
func MakeUTF16s(vs ...UTF16) (UTF16s, error) {
	l := list{n: int32(len(vs)), size: untilNUL16}
	for _, v := range vs {
		if len(v)%2 != 0 {
			return UTF16s{}, ErrLength
		}
		if indexNUL16(v, 0) >= 0 {
			return UTF16s{}, ErrNUL
		}
		l.p = append(append(l.p, v...), 0, 0)
	}
	return UTF16s{l}, nil
}

// MakeUTF16sN returns vs as an array of strings of chars code units each, for
// building an event. It fails with ErrLength if one has another length.
func MakeUTF16sN(chars int, vs ...UTF16) (UTF16s, error) {
	l, err := makeListN(2*chars, vs)
	return UTF16s{l}, err
}

// All iterates over the elements.
func (s UTF16s) All() iter.Seq[UTF16] { return elements[UTF16](s.list) }

// Equal reports whether s and t hold the same strings.
func (s UTF16s) Equal(t UTF16s) bool { return s.equal(t.list) }

// ANSIs is an array of strings of bytes: a view of the payload.
type ANSIs struct{ list }

// MakeANSIs returns vs as an array of strings that each end at a NUL, for
// building an event. It fails with ErrNUL if one contains a NUL.
func MakeANSIs(vs ...ANSI) (ANSIs, error) {
	l := list{n: int32(len(vs)), size: untilNUL}
	for _, v := range vs {
		if bytes.IndexByte(v, 0) >= 0 {
			return ANSIs{}, ErrNUL
		}
		l.p = append(append(l.p, v...), 0)
	}
	return ANSIs{l}, nil
}

// MakeANSIsN returns vs as an array of strings of size bytes each, for building
// an event. It fails with ErrLength if one has another length.
func MakeANSIsN(size int, vs ...ANSI) (ANSIs, error) {
	l, err := makeListN(size, vs)
	return ANSIs{l}, err
}

// All iterates over the elements.
func (s ANSIs) All() iter.Seq[ANSI] { return elements[ANSI](s.list) }

// Equal reports whether s and t hold the same strings.
func (s ANSIs) Equal(t ANSIs) bool { return s.equal(t.list) }

// Binaries is an array of runs of bytes: a view of the payload.
type Binaries struct{ list }

// MakeBinariesN returns vs as an array of runs of size bytes each, for building
// an event. It fails with ErrLength if one has another length.
func MakeBinariesN(size int, vs ...Binary) (Binaries, error) {
	l, err := makeListN(size, vs)
	return Binaries{l}, err
}

// All iterates over the elements.
func (s Binaries) All() iter.Seq[Binary] { return elements[Binary](s.list) }

// Equal reports whether s and t hold the same bytes.
func (s Binaries) Equal(t Binaries) bool { return s.equal(t.list) }

// SIDs is an array of security identifiers: a view of the payload.
type SIDs struct{ list }

// MakeSIDs returns vs as an array, for building an event. It fails with ErrSID
// if one is malformed.
func MakeSIDs(vs ...SID) (SIDs, error) {
	l := list{n: int32(len(vs)), size: counting}
	for _, v := range vs {
		if !v.Valid() {
			return SIDs{}, ErrSID
		}
		l.p = append(l.p, v...)
	}
	return SIDs{l}, nil
}

// MakeSIDsN returns vs as an array of SIDs that take size bytes each, for
// building an event. It fails with ErrLength if one has another length.
func MakeSIDsN(size int, vs ...SID) (SIDs, error) {
	l, err := makeListN(size, vs)
	return SIDs{l}, err
}

// All iterates over the elements.
func (s SIDs) All() iter.Seq[SID] { return elements[SID](s.list) }

// Equal reports whether s and t hold the same identifiers.
func (s SIDs) Equal(t SIDs) bool { return s.equal(t.list) }

// MakeCountedUTF16s returns vs as an array of counted strings, for building an
// event. It fails with ErrLength if one is too long.
func MakeCountedUTF16s(vs ...UTF16) (UTF16s, error) {
	l, err := makeCounted(vs)
	return UTF16s{l}, err
}

// MakeCountedANSIs returns vs as an array of counted strings, for building an
// event. It fails with ErrLength if one is too long.
func MakeCountedANSIs(vs ...ANSI) (ANSIs, error) {
	l, err := makeCounted(vs)
	return ANSIs{l}, err
}

// MakeCountedBinaries returns vs as an array of counted runs of bytes, for
// building an event. It fails with ErrLength if one is too long.
func MakeCountedBinaries(vs ...Binary) (Binaries, error) {
	l, err := makeCounted(vs)
	return Binaries{l}, err
}

func makeCounted[T ~[]byte](vs []T) (list, error) {
	l := list{n: int32(len(vs)), size: prefixed}
	for _, v := range vs {
		if len(v) > math.MaxUint16 {
			return list{}, ErrLength
		}
		l.p = appendCounted(l.p, v)
	}
	return l, nil
}

// makeListN returns vs, all of which must have size bytes, as a list.
func makeListN[T ~[]byte](size int, vs []T) (list, error) {
	l := list{n: int32(len(vs)), size: int32(size)}
	for _, v := range vs {
		if len(v) != size {
			return list{}, ErrLength
		}
		l.p = append(l.p, v...)
	}
	return l, nil
}
