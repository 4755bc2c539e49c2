package heap

import (
	"cmp"

	"github.com/etwgen/etwgen/internal/order"
)

// A Held is who holds objects of a type: the paths that keep them alive, merged where the
// types on them are the same. Of each object there is one path, a shortest one.
type Held struct {
	Holder
	// Unreachable are those of the objects that nothing holds: they wait for their
	// finalizers, or are only held weakly.
	Unreachable      int    `json:"unreachable,omitempty"`
	UnreachableBytes uint64 `json:"unreachableBytes,omitempty"`
}

// A Holder is objects of one type, or a root, that hold objects of another type. A list, or
// another chain of objects of one type, is one holder.
type Holder struct {
	Name string `json:"name"` // the type, or the root
	Root bool   `json:"root,omitempty"`
	// Count is how many of the held objects are held through it, and Bytes their size.
	Count int    `json:"count"`
	Bytes uint64 `json:"bytes"`
	// Holders hold it, those first through which the most bytes are held. With all that do
	// not stand here on their own, it has the same sums.
	Holders []*Holder `json:"holders,omitempty"`
}

// In a tree of holders a path is as long as maxHolders, and holders through which less than a
// hundredth of the bytes are held are not told apart.
const (
	maxHolders  = 60
	leastHolder = 0.01
)

// others is the name of the rest.
const others = "(others)"

// A place is where an object hangs on the shortest paths, when all objects at one
// place whose types are the same are one. Its parent is nearer to a root.
type place struct {
	parent int32
	depth  int32
	name   uint32 // of a type, or nearest to nothing of a root
}

// The paths are the shortest ones to all objects.
type paths struct {
	places []place // of which the first stands for nothing
	of     []int32 // the place of each object that is reached
	names  []string
	types  []uint32 // their names
	roots  []uint32 // their names
}

// paths returns the shortest paths. It takes time and memory in proportion to the objects.
func (s *Snapshot) paths() *paths {
	s.search()
	f := new(paths)
	numbers := make(map[string]uint32)
	number := func(name string) uint32 {
		n, ok := numbers[name]
		if !ok {
			n = uint32(len(f.names))
			numbers[name] = n
			f.names = append(f.names, name)
		}
		return n
	}
	for _, name := range s.names {
		f.types = append(f.types, number(name))
	}
	clear(numbers) // a root can have the name of a type
	for _, r := range s.roots {
		f.roots = append(f.roots, number(r.String()))
	}
	f.place(s)
	return f
}

// place finds the places of all objects.
func (f *paths) place(s *Snapshot) {
	all, of := make([]place, 1), make([]int32, s.graph.len())
	type child struct {
		parent int32
		name   uint32
	}
	known := make(map[child]int32)
	at := func(parent int32, name uint32) int32 {
		if p := all[parent]; parent > 0 && p.name == name || p.depth >= maxHolders {
			return parent
		}
		i, ok := known[child{parent, name}]
		if !ok {
			i = int32(len(all))
			known[child{parent, name}] = i
			all = append(all, place{parent, all[parent].depth + 1, name})
		}
		return i
	}
	for _, v := range s.nearest {
		if from := s.from[v]; from&isRoot != 0 {
			of[v] = at(at(0, f.roots[from&^isRoot]), f.types[s.graph.typ[v]])
		} else {
			of[v] = at(of[from], f.types[s.graph.typ[v]])
		}
	}
	f.places, f.of = all, of
}

// Holders returns who holds the objects of each type that is wanted, those that take the most
// bytes first.
func (s *Snapshot) Holders(wanted func(name string) bool) []*Held {
	held := make(map[string]*Held)
	for _, name := range s.names {
		if held[name] == nil && wanted(name) {
			held[name] = &Held{Holder: Holder{Name: name}}
		}
	}
	if len(held) == 0 {
		return nil
	}
	f := s.paths()
	sums := make(map[*Held]map[int32]*Holder) // by place
	for i := range uint32(s.graph.len()) {
		h := held[s.names[s.graph.typ[i]]]
		if h == nil {
			continue
		}
		size := s.graph.sizeOf(i)
		h.add(1, size)
		if s.from[i] == none {
			h.Unreachable++
			h.UnreachableBytes += size
			continue
		}
		if sums[h] == nil {
			sums[h] = make(map[int32]*Holder)
		}
		sum := sums[h][f.of[i]]
		if sum == nil {
			sum = new(Holder)
			sums[h][f.of[i]] = sum
		}
		sum.add(1, size)
	}
	var list []*Held
	for _, h := range held {
		m := merger{f, make(map[*Holder]map[uint32]*Holder)}
		for at, sum := range sums[h] {
			m.add(&h.Holder, at, sum)
		}
		h.Holder.settle(max(uint64(float64(h.Bytes)*leastHolder), 1))
		list = append(list, h)
	}
	order.Sort(list, func(a, b *Held) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	return list
}

func (h *Holder) add(count int, bytes uint64) {
	h.Count += count
	h.Bytes += bytes
}

// A merger merges paths from objects of a type to roots.
type merger struct {
	*paths
	nodes map[*Holder]map[uint32]*Holder
}

// add adds objects at a place.
func (m *merger) add(h *Holder, at int32, sum *Holder) {
	if p := m.places[at]; p.parent > 0 && m.names[p.name] == h.Name { // themselves: else the path is too long for them
		at = p.parent
	}
	for ; at > 0; at = m.places[at].parent {
		name := m.places[at].name
		next := m.nodes[h][name]
		if next == nil {
			next = &Holder{Name: m.names[name], Root: m.places[at].parent == 0}
			if m.nodes[h] == nil {
				m.nodes[h] = make(map[uint32]*Holder)
			}
			m.nodes[h][name] = next
			h.Holders = append(h.Holders, next)
		}
		next.add(sum.Count, sum.Bytes)
		h = next
	}
}

// settle sorts the holders of h, and makes one of those that hold little.
func (h *Holder) settle(least uint64) {
	order.Sort(h.Holders, func(a, b *Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	rest, kept := &Holder{Name: others}, h.Holders[:0]
	for i, x := range h.Holders {
		if x.Bytes < least && i > 0 {
			rest.add(x.Count, x.Bytes)
			continue
		}
		kept = append(kept, x)
		x.settle(least)
	}
	if rest.Count > 0 {
		kept = append(kept, rest)
	}
	h.Holders = kept
}
