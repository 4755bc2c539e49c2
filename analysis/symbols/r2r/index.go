package r2r

import "slices"

// An index finds addresses among pieces of code. The memory of the image is cut into
// buckets of equal size, of which most have one or two, so that one look is enough for
// nearly all.
type index struct {
	starts  []uint32
	buckets []uint32 // how many start before each
	shift   uint8
}

func newIndex(methods []span) index {
	x := index{starts: make([]uint32, len(methods))}
	if len(methods) == 0 {
		return x
	}
	for i := range methods {
		x.starts[i] = methods[i].start
	}
	last := x.starts[len(x.starts)-1] - x.starts[0]
	for last>>x.shift > uint32(len(methods)) {
		x.shift++
	}
	x.buckets = make([]uint32, last>>x.shift+2)
	i := 0
	for b := range x.buckets {
		for i < len(x.starts) && (x.starts[i]-x.starts[0])>>x.shift < uint32(b) {
			i++
		}
		x.buckets[b] = uint32(i)
	}
	return x
}

// crowded is how many of a bucket are looked at one after the other.
const crowded = 8

// last returns the last piece that starts at or before an address, or -1.
func (x *index) last(rva uint32) int {
	if len(x.starts) == 0 || rva < x.starts[0] {
		return -1
	}
	b := uint64(rva-x.starts[0]) >> x.shift
	if b+1 >= uint64(len(x.buckets)) {
		return len(x.starts) - 1
	}
	low, high := x.buckets[b], x.buckets[b+1]
	if high-low > crowded {
		i, found := slices.BinarySearch(x.starts[low:high], rva)
		for found && int(low)+i+1 < len(x.starts) && x.starts[int(low)+i+1] == rva {
			i++
		}
		if !found {
			i--
		}
		return int(low) + i
	}
	for high > low && x.starts[high-1] > rva {
		high--
	}
	return int(high) - 1
}
