package heap

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/top"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
)

// A root keeps an object alive.
type root struct {
	object uint32
	kind   rootKind
	name   string
}

func (r root) String() string {
	if r.name == "" {
		return r.kind.String()
	}
	return r.kind.String() + " " + r.name
}

// build evaluates a walk.
func (a *Analysis) build(rt *runtime, w *walk) *Snapshot {
	s := &Snapshot{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, Number: w.number,
		Objects: w.len(), LostEvents: w.lost, CutObjects: w.cut, graph: &w.graph}
	if w.number > 0 {
		s.AtMS = measure.Known(w.at)
	}
	for _, id := range w.typeIDs {
		s.names = append(s.names, a.types.Name(rt.Key, id))
	}
	if n := len(w.refs); uint64(n) < w.expected {
		s.MissingReferences = int(w.expected - uint64(n))
	}
	s.Complete = !w.gap && uint64(len(w.refs)) == w.expected
	w.index()
	s.Dangling = w.resolve(w.extra())
	s.References = len(w.to)
	for _, r := range w.roots {
		if i, ok := w.find(r.addr); ok {
			s.roots = append(s.roots, root{object: i, kind: r.kind, name: r.name})
		}
	}
	order.Stable(s.roots, func(a, b root) int { return cmp.Compare(a.kind, b.kind) })
	objects := make([]uint32, len(s.roots))
	for i, r := range s.roots {
		objects[i] = r.object
	}
	s.tree = s.graph.dominators(objects)
	s.count()
	return s
}

// extra returns the references from keys to values of tables, by key.
func (w *walk) extra() []pair {
	var list []pair
	for _, p := range w.pairs {
		from, ok := w.find(p.key)
		to, ok2 := w.find(p.value)
		if ok && ok2 {
			list = append(list, pair{from, to})
		}
	}
	order.Stable(list, func(a, b pair) int { return cmp.Compare(a.from, b.from) })
	return list
}

// count fills in the sums.
func (s *Snapshot) count() {
	rows := make([]Type, len(s.names))
	var largest top.List[uint32]
	for i := range uint32(s.graph.len()) {
		size := s.graph.sizeOf(i)
		s.Bytes += size
		row := &rows[s.graph.typ[i]]
		row.Count++
		row.Bytes += size
		if node := s.tree.node[i]; node == none {
			s.UnreachableObjects++
			s.UnreachableBytes += size
		} else if r := float64(s.tree.retained[node]); largest.Wants(r) {
			largest.Add(r, i)
		}
	}
	s.ReachableObjects, s.ReachableBytes = s.Objects-s.UnreachableObjects, s.Bytes-s.UnreachableBytes
	byType := map[string]*Type{} // several ids can have one name
	for i, retained := range s.tree.byType(s.graph, len(s.names)) {
		t := byType[s.names[i]]
		if t == nil {
			t = &Type{Type: s.names[i]}
			byType[s.names[i]] = t
		}
		t.Count += rows[i].Count
		t.Bytes += rows[i].Bytes
		t.RetainedBytes += retained
	}
	s.Types = make([]Type, 0, len(byType))
	for _, t := range byType {
		t.SharePercent = measure.Ratio(measure.Known(100*float64(t.Bytes)), measure.Known(float64(s.Bytes)))
		s.Types = append(s.Types, *t)
	}
	order.Sort(s.Types, func(a, b Type) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type))
	})
	s.countRoots()
	s.holdMost()
	s.Largest = []Object{}
	for _, i := range largest.All() {
		o := s.Object(int(i))
		o.Path = s.Path(int(i))
		s.Largest = append(s.Largest, o)
	}
}

// holdMost says who holds the types that retain most.
func (s *Snapshot) holdMost() {
	most := top.List[string]{N: mostHeld}
	for i := range s.Types {
		if r := float64(s.Types[i].RetainedBytes); most.Wants(r) {
			most.Add(r, s.Types[i].Type)
		}
	}
	names := most.All()
	s.Held = s.Holders(func(name string) bool { return slices.Contains(names, name) })
}

func (s *Snapshot) countRoots() {
	s.Roots = []RootKind{}
	for i, r := range s.roots {
		if i == 0 || s.roots[i-1].kind != r.kind {
			s.Roots = append(s.Roots, RootKind{Kind: r.kind.String()})
		}
		s.Roots[len(s.Roots)-1].Count++
	}
}

// Object returns object i, 0 <= i < Objects, without its path. They are numbered in
// the order in which the runtime walked over them.
func (s *Snapshot) Object(i int) Object {
	o := Object{Address: fmt.Sprintf("%#x", s.graph.addr[i]), Type: s.names[s.graph.typ[i]], Bytes: s.graph.sizeOf(uint32(i))}
	if node := s.tree.node[i]; node != none {
		o.RetainedBytes = s.tree.retained[node]
	}
	return o
}

// Dominator returns the object that keeps object i alive: without it, i would be
// garbage. It is -1 if only the roots do, or if nothing does.
func (s *Snapshot) Dominator(i int) int {
	node := s.tree.node[i]
	if node == none || s.tree.dom[node] == 0 {
		return -1
	}
	return int(s.tree.object[s.tree.dom[node]])
}

// maxPath bounds a path that is written out: a list can have millions of elements.
const maxPath = 100

// Path returns a shortest path to object i: the root that it begins at, and the
// types of the objects on it. Static fields are preferred to handles, and handles
// to stacks. The path is nil if nothing keeps the object alive.
func (s *Snapshot) Path(i int) []string {
	if s.tree.node[i] == none {
		return nil
	}
	s.search()
	var path []string
	v := uint32(i)
	for {
		path = append(path, s.names[s.graph.typ[v]])
		if from := s.from[v]; from&isRoot == 0 && len(path) < maxPath {
			v = from
			continue
		}
		break
	}
	if from := s.from[v]; from&isRoot != 0 {
		path = append(path, s.roots[from&^isRoot].String())
	} else {
		path = append(path, "...")
	}
	slices.Reverse(path)
	return path
}

// isRoot marks the number of a root among those of objects.
const isRoot = 1 << 31

// search goes over all objects from the roots on, the nearest first.
func (s *Snapshot) search() {
	if s.from != nil {
		return
	}
	s.from = make([]uint32, s.graph.len())
	for i := range s.from {
		s.from[i] = none
	}
	var queue []uint32
	for i, r := range s.roots {
		if s.from[r.object] == none {
			s.from[r.object] = uint32(i) | isRoot
			queue = append(queue, r.object)
		}
	}
	for at := 0; at < len(queue); at++ {
		for _, to := range s.graph.out(queue[at]) {
			if s.from[to] == none {
				s.from[to] = queue[at]
				queue = append(queue, to)
			}
		}
	}
	s.nearest = queue
}

// Diff returns how the types of a later snapshot b differ from those of a, the
// largest growth first. Objects move, so that they are not told apart one by one.
func Diff(a, b *Snapshot) []Change {
	changes := map[string]*Change{}
	add := func(s *Snapshot, sign int64) {
		for _, t := range s.Types {
			c := changes[t.Type]
			if c == nil {
				c = &Change{Type: t.Type}
				changes[t.Type] = c
			}
			c.Count += int(sign) * t.Count
			c.Bytes += sign * int64(t.Bytes)
			c.RetainedBytes += sign * int64(t.RetainedBytes)
		}
	}
	add(a, -1)
	add(b, 1)
	list := []Change{}
	for _, c := range changes {
		if c.Count != 0 || c.Bytes != 0 || c.RetainedBytes != 0 {
			list = append(list, *c)
		}
	}
	order.Sort(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type))
	})
	return list
}
