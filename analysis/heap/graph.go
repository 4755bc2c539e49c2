package heap

import (
	"math"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
)

// A graph is the objects of a heap and their references. Objects are numbered in
// the order in which the runtime walks over them.
type graph struct {
	addr  []uint64
	size  []uint32 // of most objects
	large map[uint32]uint64
	typ   []uint32
	first []uint32 // index of the first reference of each object, and the end
	refs  []uint64 // addresses, until they are resolved
	to    []uint32 // objects, of those references that lead to one
	table []uint32 // hash table of addresses: numbers of objects, plus one
	shift uint
}

// isLarge stands for a size that does not fit.
const isLarge = math.MaxUint32

// add adds an object and the number of its references, which follow in refs.
func (g *graph) add(addr, size uint64, typ uint32, refs uint64) bool {
	if len(g.first) == 0 {
		g.first = append(g.first, 0)
	}
	end := uint64(g.first[len(g.first)-1]) + refs
	if len(g.addr) >= math.MaxInt32 || end > math.MaxUint32 || refs > math.MaxUint32 {
		return false
	}
	if size >= isLarge {
		if g.large == nil {
			g.large = make(map[uint32]uint64)
		}
		g.large[uint32(len(g.addr))] = size
		size = isLarge
	}
	g.addr = append(g.addr, addr)
	g.size = append(g.size, uint32(size))
	g.typ = append(g.typ, typ)
	g.first = append(g.first, uint32(end))
	return true
}

func (g *graph) len() int { return len(g.addr) }

func (g *graph) sizeOf(i uint32) uint64 {
	if s := g.size[i]; s != isLarge {
		return uint64(s)
	}
	return g.large[i]
}

// hash spreads addresses, of which the lowest bits are all the same.
func (g *graph) hash(addr uint64) uint64 { return seeded.Hash(addr, 0) >> g.shift }

// index makes the hash table.
func (g *graph) index() {
	bits := uint(4)
	for 1<<bits < len(g.addr)*3/2 {
		bits++
	}
	g.shift = 64 - bits
	g.table = make([]uint32, 1<<bits)
	mask := uint64(len(g.table) - 1)
	for i, a := range g.addr {
		at := g.hash(a)
		for g.table[at] != 0 {
			if g.addr[g.table[at]-1] == a {
				break // twice: the first one counts
			}
			at = (at + 1) & mask
		}
		if g.table[at] == 0 {
			g.table[at] = uint32(i) + 1
		}
	}
}

// find returns the object at an address.
func (g *graph) find(addr uint64) (uint32, bool) {
	mask := uint64(len(g.table) - 1)
	for at := g.hash(addr); g.table[at] != 0; at = (at + 1) & mask {
		if i := g.table[at] - 1; g.addr[i] == addr {
			return i, true
		}
	}
	return 0, false
}

// resolve turns addresses into objects, and returns how many lead to none. In the
// same pass it inserts the extra references, which are sorted by their source.
func (g *graph) resolve(extra []pair) (dangling int) {
	refs, k := g.refs, 0
	to := make([]uint32, 0, len(refs)+len(extra))
	begin := uint32(0)
	for i := range g.addr {
		end := min(g.first[i+1], uint32(len(refs)))
		for _, a := range refs[min(begin, end):end] {
			if j, ok := g.find(a); ok {
				to = append(to, j)
			} else if a != 0 {
				dangling++
			}
		}
		for ; k < len(extra) && extra[k].from == uint32(i); k++ {
			to = append(to, extra[k].to)
		}
		begin = g.first[i+1]
		g.first[i+1] = uint32(len(to))
	}
	g.refs, g.to = nil, to
	return dangling
}

// A pair is a reference from one object to another.
type pair struct{ from, to uint32 }

// out returns the references of an object.
func (g *graph) out(i uint32) []uint32 { return g.to[g.first[i]:g.first[i+1]] }
