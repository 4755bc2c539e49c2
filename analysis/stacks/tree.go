package stacks

import (
	"slices"
	"sync"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
)

// A tree keeps call stacks such that their common part, from the outermost frame on, is
// there once. A node is a stack: its own frame, called by its parent. Node 0 is the empty
// stack.
type tree struct {
	nodes []node
	slots []slot // hash table with open addressing
	links *links // of a tree that is closed, which its copies share until they get more nodes
}

// A slot has a node, or 0 if it is free, and a hash, which spares most looks at other nodes.
type slot struct {
	hash uint32
	node int32
}

// The links of a tree lead from stacks to those that they called.
type links struct {
	once        sync.Once
	first, next []int32
	outer       []uint64 // a bit for each stack whose frame does not occur further out
}

// linked returns the links of a tree.
func (t *tree) linked() *links {
	l := t.links
	if l == nil {
		l = new(links)
	}
	l.once.Do(func() { l.find(t) })
	return l
}

func (l *links) find(t *tree) {
	n, keys := t.size(), uint64(0)
	l.first, l.next, l.outer = make([]int32, n), make([]int32, n), make([]uint64, (n+63)/64)
	for i := n - 1; i > 0; i-- {
		x := &t.nodes[i]
		l.next[i] = l.first[x.parent]
		l.first[x.parent] = int32(i)
		keys = max(keys, x.key+1)
	}
	open := make([]int32, keys) // how often a frame is on the path
	l.walk(func(id ID) {
		if f := t.nodes[id].key; open[f] == 0 {
			l.outer[id/64] |= 1 << (id % 64)
		}
		open[t.nodes[id].key]++
	}, func(id ID) { open[t.nodes[id].key]-- })
}

// walk goes through the tree from the outermost frames inward, without recursion:
// stacks can be deep.
func (l *links) walk(enter, leave func(ID)) {
	var path []int32
	for n := l.first[0]; n != 0 || len(path) > 0; {
		if n != 0 {
			enter(ID(n))
			path = append(path, n)
			n = l.first[n]
			continue
		}
		n = path[len(path)-1]
		path = path[:len(path)-1]
		leave(ID(n))
		n = l.next[n]
	}
}

type node struct {
	key    uint64 // the frame: an address or a number
	parent int32
}

// place returns the place of a frame that parent calls in so many slots, and the rest of its hash.
func place(parent int32, key uint64, slots int) (at uint64, hash uint32) {
	h := seeded.Hash(key, uint64(parent))
	return h & uint64(slots-1), uint32(h >> 32)
}

// child returns the node of a frame that parent calls.
func (t *tree) child(parent int32, key uint64) int32 {
	if 4*len(t.nodes) >= 3*len(t.slots) {
		t.grow()
	}
	i, hash := place(parent, key, len(t.slots))
	if i = t.seek(i, hash, parent, key); t.slots[i].node == 0 {
		t.slots[i] = slot{hash, int32(len(t.nodes))}
		t.nodes, t.links = append(t.nodes, node{key, parent}), nil
	}
	return t.slots[i].node
}

// find returns the node of a frame that parent calls, or 0.
func (t *tree) find(parent int32, key uint64) int32 {
	i, hash := place(parent, key, len(t.slots))
	return t.slots[t.seek(i, hash, parent, key)].node
}

// common returns the node that two are at or below, and the next ones on the way to each, or 0.
func (t *tree) common(a, b int32) (at, nextA, nextB int32) {
	for a != b { // callers have smaller numbers
		if a > b {
			nextA, a = a, t.nodes[a].parent
		} else {
			nextB, b = b, t.nodes[b].parent
		}
	}
	return a, nextA, nextB
}

// seek returns the slot of a frame that parent calls, or the one to put it into.
func (t *tree) seek(i uint64, hash uint32, parent int32, key uint64) uint64 {
	for mask := uint64(len(t.slots) - 1); ; i = (i + 1) & mask {
		x := t.slots[i]
		if x.node == 0 || x.hash == hash && t.nodes[x.node] == (node{key, parent}) {
			return i
		}
	}
}

func (t *tree) grow() {
	n := max(64, 2*len(t.slots))
	for 4*len(t.nodes) >= 3*n { // it was closed
		n *= 2
	}
	t.hash(n)
}

// reserve makes room for n more nodes.
func (t *tree) reserve(n int) {
	slots := max(64, len(t.slots))
	for 3*slots < 4*(t.size()+n) {
		slots *= 2
	}
	t.nodes = slices.Grow(t.nodes, n)
	t.hash(slots)
}

// hash makes a table of so many slots, a power of two.
func (t *tree) hash(slots int) {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, node{})
	}
	t.slots = make([]slot, slots)
	for n := 1; n < len(t.nodes); n++ {
		x := &t.nodes[n]
		i, hash := place(x.parent, x.key, slots)
		t.slots[t.seek(i, hash, x.parent, x.key)] = slot{hash, int32(n)}
	}
}

// close lets go of the memory for adding nodes. Copies of the tree that then get more of
// them leave it as it is.
func (t *tree) close() {
	t.nodes, t.slots = slices.Clip(t.nodes), nil
	if t.links == nil {
		t.links = new(links)
	}
}

// size returns the number of nodes, with that of the empty stack.
func (t *tree) size() int { return max(len(t.nodes), 1) }
