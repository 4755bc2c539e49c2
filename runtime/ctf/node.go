package ctf

import (
	"fmt"
	"strings"
)

// A node is a type in the place where it is used, with the fields found that it refers to.
type node struct {
	*ctype
	name  string
	up    *node // the struct, variant or array that it is in
	nodes []*node
	big   bool // it is big-endian

	slot   int   // where its value is kept, -1 if nobody asks
	of     *node // its length or tag
	picks  []pick
	place  uint32 // of a number among the fields that are described
	hidden bool   // its value is no part of the payload
	wide   bool   // text becomes UTF-16
	ticks  bool   // its value is the time of the event
	varies bool   // its description depends on the values
}

// A pick says which option of a variant values from lo to hi of its tag stand for.
type pick struct {
	label
	option int
}

// maxNodes bounds the fields of all events of a trace.
const maxNodes = 1 << 18

// A builder makes nodes of the types of a stream.
type builder struct {
	order endian
	nodes int
	slots int
	roots []root // in the order in which they are read
	path  string // of the root that is made
}

// A root is a struct whose fields others refer to by a path, such as stream.event.header.id.
type root struct {
	path string
	*node
}

// root makes the nodes of a root, which is a struct, or nil if t is nil.
func (b *builder) root(path string, t *ctype) (*node, error) {
	if t == nil {
		return nil, nil
	}
	b.path = path
	n, err := b.node(t, nil, "", 0)
	if err != nil {
		return nil, err
	}
	b.roots = append(b.roots, root{path, n})
	return n, nil
}

// node makes the node of a type, and those within.
func (b *builder) node(t *ctype, up *node, name string, depth int) (*node, error) {
	if b.nodes++; b.nodes > maxNodes || depth > maxDepth {
		return nil, fmt.Errorf("the fields have more than %d parts, or are more than %d deep", maxNodes, maxDepth)
	}
	n := &node{ctype: t, name: strings.TrimPrefix(name, "_"), up: up, slot: -1}
	if t.order == bigOrder || t.order == nativeOrder && b.order == bigOrder {
		n.big = true
	}
	if t.ref != "" && t.kind != kindStruct {
		if n.of = b.find(t.ref, up); n.of == nil {
			return nil, fmt.Errorf("%s refers to %s, which is not before it", name, t.ref)
		}
		b.keep(n.of)
		n.varies = t.kind == kindVariant || n.distance() < 0
	}
	members := t.fields
	if t.elem != nil {
		members = []member{{"", t.elem}}
	}
	for _, f := range members {
		k, err := b.node(f.ctype, n, f.name, depth+1)
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, k)
		n.varies = n.varies || k.varies
	}
	n.varies = n.varies || n.isExpanded()
	if t.kind == kindVariant {
		return n, n.choose()
	}
	return n, nil
}

// keep has the value of a number kept.
func (b *builder) keep(n *node) {
	if n.slot < 0 {
		n.slot = b.slots
		b.slots++
	}
}

// choose finds which values of the tag stand for which option.
func (n *node) choose() error {
	if n.of == nil || n.of.kind != kindEnum {
		return fmt.Errorf("the variant %s has no enum as tag", n.name)
	}
	for _, l := range n.of.labels {
		for i, o := range n.nodes {
			if o.name == strings.TrimPrefix(l.name, "_") {
				n.picks = append(n.picks, pick{l, i})
			}
		}
	}
	return nil
}

// find returns the number that a name refers to from within a node that is not yet whole.
func (b *builder) find(ref string, from *node) *node {
	for n := from; n != nil; n = n.up {
		if found := n.path(ref); found != nil {
			return found
		}
		if path, ok := strings.CutPrefix(ref, b.path); ok && n.up == nil {
			return n.path(path)
		}
	}
	for i := len(b.roots) - 1; i >= 0; i-- {
		r := &b.roots[i]
		if found := r.node.path(strings.TrimPrefix(ref, r.path)); found != nil {
			return found
		}
	}
	return nil
}

// path returns the number among the members of a struct that a name such as a.b stands for.
func (n *node) path(path string) *node {
	if n.kind != kindStruct {
		return nil
	}
	name, rest, deep := strings.Cut(strings.TrimPrefix(path, "_"), ".")
	switch k := n.member(name); {
	case k == nil:
	case deep:
		return k.path(rest)
	case k.kind == kindInteger || k.kind == kindEnum:
		return k
	}
	return nil
}

// member returns the last member of a struct with a name, or nil.
func (n *node) member(name string) *node {
	for i := len(n.nodes) - 1; i >= 0; i-- {
		if n.nodes[i].name == name {
			return n.nodes[i]
		}
	}
	return nil
}

// distance returns how many structs outward the length of a sequence stands, or -1 if it is not
// among the fields around it.
func (n *node) distance() int {
	for up, d := n.up, 0; up != nil; up = up.up {
		if up.kind != kindStruct {
			return -1
		}
		if up == n.of.up && !n.of.hidden {
			return d
		}
		d++
	}
	return -1
}

// isExpanded reports whether the elements of an array become fields of their own: those of
// several kinds, or arrays themselves.
func (n *node) isExpanded() bool {
	if n.kind != kindArray && n.kind != kindSequence {
		return false
	}
	e := n.nodes[0]
	return e.varies || e.kind == kindArray || e.kind == kindSequence
}

// all calls f for a node and those within.
func (n *node) all(f func(*node)) {
	if n != nil {
		f(n)
		for _, k := range n.nodes {
			k.all(f)
		}
	}
}
