package heap

// none is no object.
const none = ^uint32(0)

// A tree is the dominator tree of the objects that can be reached from the roots.
// Its nodes are numbered in the order of a depth-first search; 0 is a root above
// all roots.
type tree struct {
	object   []uint32 // of each node; node 0 has none
	node     []uint32 // of each object, or none if it cannot be reached
	dom      []uint32 // immediate dominator of each node
	retained []uint64 // by node
	steps    int      // that it took to find paths, which tests hold to be few
}

// dominators finds the dominator tree as Lengauer and Tarjan do: semidominators in the
// reverse order of the search, with paths compressed, and the dominator of each node once
// all is known of those between it and its semidominator. The time is nearly linear in the
// references, whatever their shape.
func (g *graph) dominators(roots []uint32) *tree {
	t := &tree{}
	parent := t.search(g, roots)
	n := len(t.object)
	start, preds := t.predecessors(g, roots)
	semi, label := make([]uint32, n), make([]uint32, n)
	// waiting has the first of the nodes with each semidominator whose dominator is not
	// known yet; of these dom is the next one.
	waiting := make([]uint32, n)
	t.dom = make([]uint32, n)
	for i := range n {
		semi[i], label[i] = uint32(i), uint32(i)
	}
	e := forest{parent: parent, semi: semi, label: label}
	for i := n - 1; i >= 1; i-- {
		up := parent[i]
		s := up
		for _, p := range preds[start[i]:start[i+1]] {
			s = min(s, semi[e.eval(p, uint32(i)+1)])
		}
		semi[i] = s
		t.dom[i], waiting[s] = waiting[s], uint32(i)
		for v := waiting[up]; v != 0; {
			next, u := t.dom[v], e.eval(v, uint32(i))
			if t.dom[v] = up; semi[u] < semi[v] {
				t.dom[v] = u // has the same dominator
			}
			v = next
		}
		waiting[up] = 0
	}
	for i := 1; i < n; i++ {
		if t.dom[i] != semi[i] {
			t.dom[i] = t.dom[t.dom[i]]
		}
	}
	t.steps = e.steps
	t.weigh(g)
	return t
}

// search numbers the reachable nodes, and returns the parent of each node in the tree of the
// search.
func (t *tree) search(g *graph, roots []uint32) (parent []uint32) {
	t.node = make([]uint32, g.len())
	for i := range t.node {
		t.node[i] = none
	}
	t.object = append(make([]uint32, 0, g.len()+1), none)
	parent = append(make([]uint32, 0, g.len()+1), 0)
	type frame struct{ object, next uint32 }
	var stack []frame
	visit := func(object, from uint32) {
		t.node[object] = uint32(len(t.object))
		t.object = append(t.object, object)
		parent = append(parent, from)
		stack = append(stack, frame{object, g.first[object]})
	}
	for _, root := range roots {
		if t.node[root] != none {
			continue
		}
		visit(root, 0)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == g.first[f.object+1] {
				stack = stack[:len(stack)-1]
				continue
			}
			to := g.to[f.next]
			f.next++
			if t.node[to] == none {
				visit(to, t.node[f.object])
			}
		}
	}
	return parent
}

// predecessors returns, for each node, those with a reference to it.
func (t *tree) predecessors(g *graph, roots []uint32) (start, preds []uint32) {
	n := len(t.object)
	start = make([]uint32, n+1)
	count := func(to uint32) { start[t.node[to]+1]++ }
	for _, root := range roots {
		count(root)
	}
	for _, object := range t.object[1:] {
		for _, to := range g.out(object) {
			count(to)
		}
	}
	for i := range n {
		start[i+1] += start[i]
	}
	preds = make([]uint32, start[n])
	// Filling moves the begin of each list to its end, which is the next one's
	// begin: they are one too far, first.
	for i := n; i > 0; i-- {
		start[i] = start[i-1]
	}
	put := func(to, from uint32) {
		at := t.node[to] + 1
		preds[start[at]] = from
		start[at]++
	}
	for _, root := range roots {
		put(root, 0)
	}
	for i := 1; i < n; i++ {
		for _, to := range g.out(t.object[i]) {
			put(to, uint32(i))
		}
	}
	return start, preds
}

// A forest is the part of the tree of the search that was looked at already, with
// its paths compressed.
type forest struct {
	parent, semi, label []uint32
	stack               []uint32
	steps               int
}

// eval returns the node with the least semidominator among v and its ancestors from
// the node last on.
func (f *forest) eval(v, last uint32) uint32 {
	if f.parent[v] < last {
		return f.label[v]
	}
	f.stack = f.stack[:0]
	for f.parent[v] >= last {
		f.stack = append(f.stack, v)
		v = f.parent[v]
	}
	f.steps += len(f.stack)
	p, best := v, f.label[v]
	for len(f.stack) > 0 {
		v = f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.parent[v] = f.parent[p]
		if f.semi[best] < f.semi[f.label[v]] {
			f.label[v] = best
		} else {
			best = f.label[v]
		}
		p = v
	}
	return f.label[v]
}

// weigh adds up the bytes that each node retains. A dominator has a lower number than the
// nodes it dominates.
func (t *tree) weigh(g *graph) {
	t.retained = make([]uint64, len(t.object))
	for i := len(t.object) - 1; i >= 1; i-- {
		t.retained[i] += g.sizeOf(t.object[i])
		t.retained[t.dom[i]] += t.retained[i]
	}
}

// byType returns the bytes that the objects of each type retain together: of those within
// others of the same type in the tree, only the outer one counts.
func (t *tree) byType(g *graph, types int) []uint64 {
	n := len(t.object)
	child, next := make([]uint32, n), make([]uint32, n) // lists of children
	for i := n - 1; i >= 1; i-- {
		next[i] = child[t.dom[i]]
		child[t.dom[i]] = uint32(i)
	}
	sums, open := make([]uint64, types), make([]uint32, types)
	v := child[0]
	for v != 0 {
		typ := g.typ[t.object[v]]
		if open[typ] == 0 {
			sums[typ] += t.retained[v]
		}
		open[typ]++
		if child[v] != 0 {
			v = child[v]
			continue
		}
		for v != 0 {
			open[g.typ[t.object[v]]]--
			if next[v] != 0 {
				v = next[v]
				break
			}
			v = t.dom[v]
		}
	}
	return sums
}
