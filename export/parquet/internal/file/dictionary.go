package file

import "hash/maphash"

// A dictionary numbers texts in the order in which they come. All lie in one piece
// of memory, and none is allocated by itself.
type dictionary struct {
	text  []byte
	ends  []uint32 // where each ends in text
	slots []uint32 // a hash table: the number of a text and 1, or 0
}

var hashSeed = maphash.MakeSeed()

// at returns text i.
func (d *dictionary) at(i uint32) []byte {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.text[start:d.ends[i]]
}

// number returns the number of p, which gets one if it has none.
func (d *dictionary) number(p []byte) uint32 {
	if 2*len(d.ends) >= len(d.slots) {
		d.grow()
	}
	mask := uint64(len(d.slots) - 1)
	for h := maphash.Bytes(hashSeed, p) & mask; ; h = (h + 1) & mask {
		i := d.slots[h]
		if i == 0 {
			d.text = append(d.text, p...)
			d.ends = append(d.ends, uint32(len(d.text)))
			d.slots[h] = uint32(len(d.ends))
			return uint32(len(d.ends) - 1)
		}
		if string(d.at(i-1)) == string(p) {
			return i - 1
		}
	}
}

// grow makes the table larger.
func (d *dictionary) grow() {
	d.slots = make([]uint32, max(16, 2*len(d.slots)))
	mask := uint64(len(d.slots) - 1)
	for i := range d.ends {
		h := maphash.Bytes(hashSeed, d.at(uint32(i))) & mask
		for d.slots[h] != 0 {
			h = (h + 1) & mask
		}
		d.slots[h] = uint32(i + 1)
	}
}

// reset forgets all texts, and keeps the memory.
func (d *dictionary) reset() {
	d.text, d.ends = d.text[:0], d.ends[:0]
	clear(d.slots)
}

func (d *dictionary) memory() int { return cap(d.text) + 4*cap(d.ends) + 4*cap(d.slots) }

// maxNumbers is how many numbers a dictionary of them has at most, and tryNumbers
// how many are looked at to see whether they repeat.
const (
	maxNumbers = 1 << 15
	tryNumbers = 1 << 10
)

// A numbering is a dictionary of numbers, which serves one column after the other.
type numbering struct {
	values []uint64
	slots  [2 * maxNumbers]uint32
	used   []uint32 // slots that are taken
}

// number gives numbers to values, in indexes. It reports whether that is worth it.
func (d *numbering) number(values []uint64, indexes []uint32) ([]uint32, bool) {
	for _, h := range d.used {
		d.slots[h] = 0
	}
	d.values, d.used, indexes = d.values[:0], d.used[:0], indexes[:0]
	for n, v := range values {
		h := uint32(v*0x9e3779b97f4a7c15>>32) % uint32(len(d.slots))
		for d.slots[h] != 0 && d.values[d.slots[h]-1] != v {
			h = (h + 1) % uint32(len(d.slots))
		}
		if d.slots[h] == 0 {
			if len(d.values) == maxNumbers || n > tryNumbers && len(d.values) > n/4 {
				return indexes, false
			}
			d.values = append(d.values, v)
			d.used = append(d.used, h)
			d.slots[h] = uint32(len(d.values))
		}
		indexes = append(indexes, d.slots[h]-1)
	}
	return indexes, len(d.values) <= 2 || len(d.values) <= len(values)/2
}
