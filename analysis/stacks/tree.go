package stacks

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/seeded"
)

// A tree keeps call stacks such that their common part, from the outermost frame on, is
// there once. A node is a stack: its own frame, called by its parent. Node 0 is the empty
// stack.
type tree struct {
	nodes []node
	slots []int32 // hash table with open addressing; 0 is free, else a node
}

type node struct {
	key    uint64 // the frame: an address or a number
	parent int32
}

func hashNode(parent int32, key uint64) uint64 { return seeded.Hash(key, uint64(parent)) }

// child returns the node of a frame that parent calls.
func (t *tree) child(parent int32, key uint64) int32 {
	if 4*len(t.nodes) >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := hashNode(parent, key) & mask; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			n = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{key, parent})
			t.slots[i] = n
			return n
		}
		if x := &t.nodes[n]; x.key == key && x.parent == parent {
			return n
		}
	}
}

// find returns the node of a frame that parent calls, or 0.
func (t *tree) find(parent int32, key uint64) int32 {
	mask := uint64(len(t.slots) - 1)
	for i := hashNode(parent, key) & mask; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 || t.nodes[n].key == key && t.nodes[n].parent == parent {
			return n
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
	t.slots = make([]int32, slots)
	mask := uint64(len(t.slots) - 1)
	for n := 1; n < len(t.nodes); n++ {
		i := hashNode(t.nodes[n].parent, t.nodes[n].key) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = int32(n)
	}
}

// close lets go of the memory for adding nodes. Copies of the tree that then get more of
// them leave it as it is.
func (t *tree) close() { t.nodes, t.slots = slices.Clip(t.nodes), nil }

// size returns the number of nodes, with that of the empty stack.
func (t *tree) size() int { return max(len(t.nodes), 1) }
