package heap

import (
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"testing"
	"time"
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

// reach returns the objects that can be reached without one object.
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

// An object retains those that cannot be reached without it.
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

// shapes are heaps of n objects on which some algorithms for dominators, or orders in which
// they go, take quadratic time. An object of each has the references that it returns.
var shapes = map[string]func(n, i int) []int{
	"list": func(n, i int) []int { return []int{i + 1} },
	// A list of n/2 nodes, of which each has an item that an array has, too. The array is
	// met last, or first.
	"list with items that an array has": func(n, i int) []int {
		switch half := n / 2; {
		case i == 0:
			return []int{2, 1}
		case i == 1:
			return span(2+half, n)
		case i < 2+half:
			return []int{i + 1, i + half}
		}
		return nil
	},
	"array of items that a list has": func(n, i int) []int {
		switch half := n / 2; {
		case i == 0:
			return []int{1, 2}
		case i == 1:
			return span(2+half, n)
		case i < 2+half:
			return []int{i + half, i + 1}
		}
		return nil
	},
	"list in both directions":     func(n, i int) []int { return []int{i + 1, i - 1} },
	"ring":                        func(n, i int) []int { return []int{(i + 1) % n, (i + n - 1) % n} },
	"list with ways to its begin": func(n, i int) []int { return []int{i + 1, 1, i / 2} },
	"list with ways ahead":        func(n, i int) []int { return []int{i + 1, i + (n-i)/2, n - 1} },
	"ladder":                      func(n, i int) []int { return []int{i + 2, i ^ 1} },
	"tree with ways up":           func(n, i int) []int { return []int{2*i + 1, 2*i + 2, i - 1} },
	"star": func(n, i int) []int {
		if i == 0 {
			return span(1, n)
		}
		return []int{i - 1}
	},
	"backward": func(n, i int) []int {
		if i == 0 {
			return span(1, n)
		}
		return []int{i - 1, i - 2}
	},
}

func span(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// shaped makes a heap of a shape.
func shaped(n int, refs func(n, i int) []int) *graph {
	g := &graph{}
	for i := range n {
		count := 0
		for _, to := range refs(n, i) {
			if to >= 0 && to < n {
				g.refs = append(g.refs, uint64(to+1)*8)
				count++
			}
		}
		g.add(uint64(i+1)*8, 1, 0, uint64(count))
	}
	g.index()
	g.resolve(nil)
	return g
}

// TestShapes holds the dominators of small heaps of all shapes against the objects that would be
// garbage.
func TestShapes(t *testing.T) {
	for name, refs := range shapes {
		g := shaped(40, refs)
		tree := g.dominators([]uint32{0})
		all := reach(g, []uint32{0}, none)
		for v := range uint32(40) {
			if !all[v] {
				continue
			}
			rest, want := reach(g, []uint32{0}, v), uint64(0)
			for w := range all {
				if all[w] && !rest[w] {
					want++
				}
			}
			if got := tree.retained[tree.node[v]]; got != want {
				t.Errorf("%s: object %d retains %d, want %d", name, v, got, want)
			}
		}
	}
}

// TestLinear holds the dominators of heaps of all shapes, at three sizes, to steps and to bytes
// for each object and reference, of which there are as many at each: a quadratic one takes a
// hundred times as many at the last size as at the first. Time is only shown, since others can
// take it away.
func TestLinear(t *testing.T) {
	sizes := []int{10_000, 100_000, 1_000_000}
	if testing.Short() {
		sizes = []int{1000, 10_000, 100_000}
	}
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for name, refs := range shapes {
		for _, n := range sizes {
			g := shaped(n, refs)
			parts := n + len(g.to)
			metrics.Read(allocated)
			before, begin := allocated[0].Value.Uint64(), time.Now()
			tree := g.dominators([]uint32{0})
			took := time.Since(begin)
			metrics.Read(allocated)
			bytes := int(allocated[0].Value.Uint64() - before)
			t.Logf("%-36s %9d objects: for each object and reference %.2f steps, %.1f bytes, %d ns", name, n,
				float64(tree.steps)/float64(parts), float64(bytes)/float64(parts), took.Nanoseconds()/int64(parts))
			if tree.steps > 4*parts {
				t.Errorf("%s: %d objects and %d references take %d steps", name, n, len(g.to), tree.steps)
			}
			if bytes > 1<<20+100*parts {
				t.Errorf("%s: %d objects and %d references take %d bytes", name, n, len(g.to), bytes)
			}
		}
	}
}

// TestFlood indexes addresses that a multiplication by a number that is known would bring to
// one place.
func TestFlood(t *testing.T) {
	const factor = 0x9e3779b97f4a7c15
	inverse := uint64(factor)
	for range 6 {
		inverse *= 2 - factor*inverse
	}
	g := &graph{}
	for i := range uint64(50_000) {
		g.add((i+1)*inverse, 1, 0, 0)
	}
	g.index()
	mask, steps := uint64(len(g.table)-1), 0
	for i, a := range g.addr {
		at := g.hash(a)
		for ; g.table[at] != uint32(i)+1; at = (at + 1) & mask {
			steps++
		}
	}
	if steps > 20*g.len() {
		t.Errorf("%d addresses are found in %d steps", g.len(), steps)
	}
}
