package etw

import (
	"encoding/binary"
	"math"
)

// Counted values: strings and bytes that a uint16 with their number of bytes
// comes before, as the newer inTypes win:CountedUnicodeString,
// win:CountedAnsiString and win:CountedBinary have it.

// counted reads a run of bytes and the number before it.
func (r *Reader) counted() []byte { return r.Bytes(int(r.Uint16())) }

// CountedUTF16 reads a string.
func (r *Reader) CountedUTF16() UTF16 { return UTF16(r.counted()) }

// CountedANSI reads a string.
func (r *Reader) CountedANSI() ANSI { return ANSI(r.counted()) }

// CountedBinary reads bytes.
func (r *Reader) CountedBinary() Binary { return Binary(r.counted()) }

// CountedUTF16s reads n strings.
func (r *Reader) CountedUTF16s(n uint64) UTF16s { return UTF16s{r.countedList(n)} }

// CountedANSIs reads n strings.
func (r *Reader) CountedANSIs(n uint64) ANSIs { return ANSIs{r.countedList(n)} }

// CountedBinaries reads n runs of bytes.
func (r *Reader) CountedBinaries(n uint64) Binaries { return Binaries{r.countedList(n)} }

func (r *Reader) countedList(n uint64) list {
	from := r.Offset()
	for range r.Count(n, 2) {
		if r.counted(); r.Failed() {
			return list{}
		}
	}
	return r.list(from, n, prefixed)
}

// CountedUTF16 appends a string.
func (w *Writer) CountedUTF16(i int, v UTF16) { w.counted(i, v) }

// CountedANSI appends a string.
func (w *Writer) CountedANSI(i int, v ANSI) { w.counted(i, v) }

// CountedBinary appends bytes.
func (w *Writer) CountedBinary(i int, v Binary) { w.counted(i, v) }

func (w *Writer) counted(i int, v []byte) {
	if w.check(i, len(v) <= math.MaxUint16, ErrLength) {
		w.b = appendCounted(w.b, v)
	}
}

// CountedUTF16s appends n strings.
func (w *Writer) CountedUTF16s(i int, v UTF16s, n uint64) { w.list(i, v.list, n, prefixed) }

// CountedANSIs appends n strings.
func (w *Writer) CountedANSIs(i int, v ANSIs, n uint64) { w.list(i, v.list, n, prefixed) }

// CountedBinaries appends n runs of bytes.
func (w *Writer) CountedBinaries(i int, v Binaries, n uint64) { w.list(i, v.list, n, prefixed) }

func appendCounted(b, v []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(v))), v...)
}

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
