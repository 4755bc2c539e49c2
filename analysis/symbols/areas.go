package symbols

import "math"

// Areas find addresses among places. Methods lie close together in a few areas of memory;
// each area is cut into buckets of equal size, so that all but a few places are passed
// over at once, and one look at each of two tables is enough for most addresses.
type areas struct {
	list    []area
	buckets []uint32 // the number of the first place in each, and then that after the last
}

// An area is a part of memory with starts that are not far from each other.
type area struct {
	begin  uint64
	first  uint32 // its places
	end    uint32
	bucket uint32 // its buckets
	number uint32
	shift  uint8 // an offset is in the bucket offset>>shift
}

// maxGap is how far one start is from the next in an area.
const maxGap = 1 << 24

// perPlace is how many buckets there are for each place, at most: so many that most have one
// place or none, since a processor guesses wrong how much it has to search.
const perPlace = 2

// crowded is how many places of a bucket are looked at one after the other.
const crowded = 8

// add adds place number i, which does not start before the last one. It returns how far
// it is behind the begin of its area.
func (a *areas) add(i int, start uint64, last uint32) uint32 {
	if n := len(a.list); n > 0 {
		x := &a.list[n-1]
		if off := start - x.begin; off <= math.MaxUint32 && off-uint64(last) <= maxGap {
			x.end++
			return uint32(off)
		}
	}
	a.list = append(a.list, area{begin: start, first: uint32(i), end: uint32(i) + 1})
	return 0
}

// finish makes the buckets.
func (a *areas) finish(places []place) {
	for i := range a.list {
		x := &a.list[i]
		last := places[x.end-1].offset
		most := (x.end - x.first) * perPlace
		for last>>x.shift >= most {
			x.shift++
		}
		x.bucket, x.number = uint32(len(a.buckets)), last>>x.shift+1
		at := x.first
		for b := range x.number {
			for places[at].offset>>x.shift < b {
				at++
			}
			a.buckets = append(a.buckets, at)
		}
		a.buckets = append(a.buckets, x.end)
	}
}

// last returns the last place that starts at or before an address, and its start, or -1
// if there is none.
func (a *areas) last(places []place, address uint64) (int, uint64) {
	k, n := 0, len(a.list) // the first area after the address
	for k < n {
		if mid := (k + n) / 2; a.list[mid].begin <= address {
			k = mid + 1
		} else {
			n = mid
		}
	}
	if k == 0 {
		return -1, 0
	}
	x := &a.list[k-1]
	offset := address - x.begin
	low, high := x.end, x.end // the last one is before high, or before low if that is less
	if b := offset >> x.shift; b < uint64(x.number) {
		low, high = a.buckets[x.bucket+uint32(b)], a.buckets[x.bucket+uint32(b)+1]
	}
	for high-low > crowded {
		if mid := low + (high-low)/2; uint64(places[mid].offset) <= offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for high > low && uint64(places[high-1].offset) > offset { // rarely more than one
		high--
	}
	return int(high) - 1, x.begin + uint64(places[high-1].offset)
}
