package r2r

import (
	"encoding/binary"
	"math/bits"
)

// The tables of entry points have numbers of their own kind, an array and a hash table.

// number reads a number: as many ones as its first byte ends with, so many bytes follow
// it. It returns where the next one is, and false if there is none.
func number(b []byte, at uint32) (v, next uint32, ok bool) {
	if uint64(at) >= uint64(len(b)) {
		return 0, 0, false
	}
	b = b[at:]
	n := bits.TrailingZeros8(^b[0])
	if n > 4 || len(b) <= n {
		return 0, 0, false
	}
	if n == 4 {
		return binary.LittleEndian.Uint32(b[1:]), at + 5, true
	}
	var word [4]byte
	copy(word[:], b[:n+1])
	return binary.LittleEndian.Uint32(word[:]) >> (n + 1), at + uint32(n) + 1, true
}

// signed reads a number with a sign.
func signed(b []byte, at uint32) (v int32, next uint32, ok bool) {
	u, next, ok := number(b, at)
	if size := next - at; ok && size < 5 {
		unused := 32 - 7*size
		return int32(u<<unused) >> unused, next, true
	}
	return int32(u), next, ok
}

// An array has values by index, of which many are missing. Each 16 of them are a tree.
type array struct {
	b     []byte
	base  uint32 // of the table of trees
	count uint32
	width uint32 // of its entries
}

const treeSize = 16

// readArray reads the head of an array, and whether there is one.
func readArray(b []byte) (array, bool) {
	h, base, ok := number(b, 0)
	a := array{b: b, base: base, count: h >> 2, width: 1 << (h & 3)}
	trees := (uint64(a.count) + treeSize - 1) / treeSize
	return a, ok && h&3 < 3 && uint64(base)+trees*uint64(a.width) <= uint64(len(b))
}

// at returns where the value of an index is, and false if it has none.
func (a *array) at(i uint32) (uint32, bool) {
	var word [4]byte
	entry := a.base + i/treeSize*a.width
	copy(word[:], a.b[entry:entry+a.width])
	at := a.base + binary.LittleEndian.Uint32(word[:])
	for bit := uint32(treeSize / 2); bit > 0; bit /= 2 {
		v, next, ok := number(a.b, at)
		switch {
		case !ok:
			return 0, false
		case i&bit != 0 && v&2 != 0: // the other half is further behind
			at += v >> 2
		case i&bit == 0 && v&1 != 0: // this half follows
			at = next
		case v&3 == 0 && v>>2 == i&(treeSize-1): // only this one is there
			return next, true
		default:
			return 0, false
		}
	}
	return at, true
}

// entries calls f with where each entry of a hash table is, until it returns false. It
// returns false if the table is damaged.
func entries(b []byte, f func(at uint32) bool) bool {
	if len(b) == 0 {
		return true
	}
	width, shift := uint64(1)<<(b[0]&3), b[0]>>2
	if b[0]&3 == 3 || shift > 31 || 1+(uint64(1)<<shift+1)*width > uint64(len(b)) {
		return false
	}
	b = b[1:] // places in the table count from here
	edge := func(k uint64) uint32 {
		var word [4]byte
		copy(word[:], b[k*width:(k+1)*width])
		return binary.LittleEndian.Uint32(word[:])
	}
	for k := range uint64(1) << shift {
		from, to := edge(k), edge(k+1)
		if from > to || uint64(to) > uint64(len(b)) {
			return false
		}
		for from < to {
			relative, next, ok := signed(b, from+1) // behind a part of the hash
			if !ok || !f(1+from+1+uint32(relative)) {
				return ok
			}
			from = next
		}
	}
	return true
}
