package native

import (
	"cmp"
	"slices"
	"sort"
)

// A table is functions by address.
type table struct {
	list   []function
	bounds []uint64 // where sections end
}

type function struct {
	at, size uint64 // size 0 is up to the next one, or the end of the section
	name     string
}

func (t *table) add(at, size uint64, name string) {
	if name != "" {
		t.list = append(t.list, function{at, size, name})
	}
}

// bound notes that no function goes on at an address.
func (t *table) bound(end uint64) { t.bounds = append(t.bounds, end) }

// sort makes the table ready. Of several functions at one address the first with a size
// stays, or else the first.
func (t *table) sort() {
	slices.SortStableFunc(t.list, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(min(b.size, 1), min(a.size, 1)))
	})
	t.list = slices.CompactFunc(t.list, func(a, b function) bool { return a.at == b.at })
	slices.Sort(t.bounds)
}

// find returns the function at an address.
func (t *table) find(address uint64) (name string, offset uint64, ok bool) {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].at > address }) - 1
	if i < 0 {
		return "", 0, false
	}
	f := &t.list[i]
	if f.size > 0 && address-f.at >= f.size {
		return "", 0, false
	}
	if k, _ := slices.BinarySearch(t.bounds, f.at+1); f.size == 0 && k < len(t.bounds) && t.bounds[k] <= address {
		return "", 0, false
	}
	return f.name, address - f.at, true
}
