package native

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/internal/perfmap"
)

// A table is functions by address.
type table struct {
	list   []function
	bounds []uint64 // where sections end
	reach  []uint64 // how far the functions up to each one go
}

type function struct {
	at, size uint64 // size 0 is up to the next one, or the end of the section
	name     string
	rank     rank
}

// A rank orders the names of one place, the best first.
type rank uint8

// The ranks of names in ELF files.
const (
	ofAll     rank = iota // a name for all files
	ofAllWeak             // one that others take the place of
	ofFile                // one for the file alone
	ofLabel               // the name of a place that is not said to be a function
	ofChoice              // the name of what chooses the function
	ofStub
)

func (t *table) add(at, size uint64, name string) { t.addRanked(at, size, name, ofAll) }

func (t *table) addRanked(at, size uint64, name string, r rank) {
	if name != "" {
		t.list = append(t.list, function{at, size, name, r})
	}
}

// bound notes that no function goes on at an address.
func (t *table) bound(end uint64) { t.bounds = append(t.bounds, end) }

// better reports whether a name of the same address is to stay in place of another.
func (f *function) better(than *function) bool {
	return cmp.Or(cmp.Compare(min(than.size, 1), min(f.size, 1)), cmp.Compare(f.rank, than.rank),
		cmp.Compare(underscores(f.name), underscores(than.name)), cmp.Compare(len(f.name), len(than.name))) < 0
}

// sort makes the table ready. Of several names of one address the best one stays: one with
// a size, of the first rank, that begins with the fewest underscores, and is the shortest.
func (t *table) sort() {
	order.ByKey(t.list, func(f *function) uint64 { return f.at })
	best := t.list[:0]
	for _, f := range t.list {
		if n := len(best); n == 0 || best[n-1].at != f.at {
			best = append(best, f)
		} else if f.better(&best[n-1]) {
			best[n-1] = f
		}
	}
	clear(t.list[len(best):])
	t.list = best
	slices.Sort(t.bounds)
	t.reach = make([]uint64, len(t.list))
	last := uint64(0)
	for i := range t.list {
		f := &t.list[i]
		if f.size == 0 {
			f.size = t.upTo(i) - f.at
		}
		if end := f.at + f.size; end >= f.at {
			last = max(last, end)
		} else {
			last = math.MaxUint64
		}
		t.reach[i] = last
	}
}

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

// upTo returns where a function without a size ends.
func (t *table) upTo(i int) uint64 {
	at, end := t.list[i].at, uint64(math.MaxUint64)
	if i+1 < len(t.list) {
		end = t.list[i+1].at
	}
	if k, _ := slices.BinarySearch(t.bounds, at+1); k < len(t.bounds) {
		end = min(end, t.bounds[k])
	}
	return end
}

// maxInside is how many functions before an address are looked at: some are inside of
// others.
const maxInside = 32

// find returns the function at an address.
func (t *table) find(address uint64) (name string, offset uint64, ok bool) {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].at > address }) - 1
	for k := i; k >= 0 && k > i-maxInside && t.reach[k] > address; k-- {
		if f := &t.list[k]; address-f.at < f.size {
			return f.name, address - f.at, true
		}
	}
	return "", 0, false
}

// readPerfMap reads a map of code that a program compiled, or a jitdump. With an error there is
// the part that could be read.
func readPerfMap(f io.Reader) (*table, error) {
	r, read := bufio.NewReader(f), perfmap.Read
	if head, _ := r.Peek(4); perfmap.IsDump(head) {
		read = perfmap.ReadDump
	}
	t := new(table)
	last := make(map[uint64]int)
	err := read(r, func(at, size uint64, name string) {
		if i, known := last[at]; known {
			t.list[i] = function{at: at, size: size, name: name}
			return
		}
		last[at] = len(t.list)
		t.add(at, size, name)
	})
	t.sort()
	return t, err
}
