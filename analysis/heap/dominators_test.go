package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// random makes a graph of n objects with some references each.
func random(r *rand.Rand, n, refs int) *graph {
	g := &graph{}
	for i := range n {
		k := r.IntN(refs + 1)
		g.add(uint64(i+1)*8, uint64(r.IntN(100)+1), uint32(r.IntN(3)), uint64(k))
		for range k {
			g.refs = append(g.refs, uint64(r.IntN(n+1)+1)*8) // one address is of no object
		}
	}
	g.index()
	g.resolve(nil)
	return g
}

// reach returns what can be reached without one object.
func reach(g *graph, roots []uint32, without uint32) []bool {
	seen := make([]bool, g.len())
	stack := slices.Clone(roots)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v == without || seen[v] {
			continue
		}
		seen[v] = true
		stack = append(stack, g.out(v)...)
	}
	return seen
}

// What an object retains is what cannot be reached without it.
func TestRetainedIsWhatWouldBeGarbage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := r.IntN(30) + 1
		g := random(r, n, 3)
		roots := []uint32{uint32(r.IntN(n)), uint32(r.IntN(n))}
		tree := g.dominators(roots)
		all := reach(g, roots, none)
		var total uint64
		for v := range uint32(n) {
			if all[v] != (tree.node[v] != none) {
				t.Fatalf("object %d is reached: %v", v, all[v])
			}
			if !all[v] {
				continue
			}
			total += g.sizeOf(v)
			var want uint64
			rest := reach(g, roots, v)
			for w := range uint32(n) {
				if all[w] && !rest[w] {
					want += g.sizeOf(w)
				}
			}
			if got := tree.retained[tree.node[v]]; got != want || got < g.sizeOf(v) {
				t.Fatalf("object %d of %d retains %d, want %d", v, n, got, want)
			}
		}
		if tree.retained[0] != total {
			t.Fatalf("the roots retain %d of %d", tree.retained[0], total)
		}
		checkTypes(t, g, tree)
	}
}

// checkTypes checks the sums by type in the slow way.
func checkTypes(t *testing.T, g *graph, tree *tree) {
	want := make([]uint64, 3)
	for i := 1; i < len(tree.object); i++ {
		typ, inner := g.typ[tree.object[i]], false
		for d := tree.dom[i]; d != 0; d = tree.dom[d] {
			inner = inner || g.typ[tree.object[d]] == typ
		}
		if !inner {
			want[typ] += tree.retained[i]
		}
	}
	if got := tree.byType(g, 3); !slices.Equal(got, want) {
		t.Fatalf("by type %v, want %v", got, want)
	}
}

func TestLargeObjects(t *testing.T) {
	g := &graph{}
	g.add(8, 5<<32, 0, 0)
	g.add(16, isLarge, 0, 0)
	g.add(16, 1, 0, 0) // twice at one address
	g.index()
	if i, ok := g.find(16); g.sizeOf(0) != 5<<32 || g.sizeOf(1) != isLarge || !ok || i != 1 {
		t.Errorf("%d, %d, %d", g.sizeOf(0), g.sizeOf(1), i)
	}
	if g.add(24, 1, 0, 1<<32) {
		t.Error("more references than there can be are taken")
	}
}
