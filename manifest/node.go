package manifest

import (
	"iter"
	"strings"

	"github.com/beevik/etree"
)

// Namespaces of manifests. Those that Windows defines begin with http; its
// message compiler refuses a file that says https.
const (
	eventsURI  = "http://schemas.microsoft.com/win/2004/08/events"
	winmetaURI = "http://manifests.microsoft.com/win/2004/08/windows/events"
	schemaURI  = "http://www.w3.org/2001/XMLSchema"
)

// ExtensionNamespace is the namespace of attributes for etwgen alone. Windows ignores it:
//
//	<provider xmlns:etwgen="https://github.com/etwgen/etwgen/manifest" ...>
const ExtensionNamespace = "https://github.com/etwgen/etwgen/manifest"

// A vocabulary is the language that an element belongs to.
type vocabulary uint8

const (
	foreign vocabulary = iota // to be ignored
	events                    // the manifest proper
	extension
)

// A node is an element with its place, which package etree does not know.
type node struct {
	el     *etree.Element
	at     place
	vocab  vocabulary
	ns     *scope
	first  *node // its first child that is an element
	next   *node // its next sibling
	parent *node
}

// A scope holds the prefixes that an element declares.
type scope struct {
	outer *scope
	uris  map[string]string // by prefix; "" is the default namespace
}

// lookup returns the namespace that a prefix stands for.
func (s *scope) lookup(prefix string) (string, bool) {
	for ; s != nil; s = s.outer {
		if uri, ok := s.uris[prefix]; ok {
			return uri, true
		}
	}
	return "", prefix == ""
}

// canonicalURI returns a namespace as Windows writes it.
func canonicalURI(uri string) string {
	if rest, ok := strings.CutPrefix(uri, "https:"); ok {
		switch uri := "http:" + rest; uri {
		case eventsURI, winmetaURI, schemaURI:
			return uri
		}
	}
	return uri
}

// children iterates over the children that belong to the manifest proper and
// have one of the given tags.
//
//go:noinline
func (n *node) children(tags ...string) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for c := n.first; c != nil; c = c.next {
			if c.vocab != events {
				continue
			}
			for _, tag := range tags {
				if c.el.Tag == tag {
					if !yield(c) {
						return
					}
					break
				}
			}
		}
	}
}

// attr returns the value of an attribute without a namespace, without the space
// around it. It is "" if there is none.
func (n *node) attr(name string) string {
	v, _ := n.lookup(name)
	return v
}

// lookup is attr, but tells an absent attribute from an empty one.
func (n *node) lookup(name string) (string, bool) {
	v, ok := n.text(name)
	return strings.Trim(v, " \t\r\n"), ok
}

// text is lookup, but keeps the space around the value.
func (n *node) text(name string) (string, bool) {
	for i := range n.el.Attr {
		if a := &n.el.Attr[i]; a.Key == name && a.Space == "" {
			return a.Value, true
		}
	}
	return "", false
}

// A grower turns the tree of package etree into nodes.
type grower struct {
	p      *parser
	places []place // of the elements, in document order
	nodes  []node  // all of them, in document order
}

// grow returns the node of the root element.
func (p *parser) grow(root *etree.Element, places []place) *node {
	g := &grower{p: p, places: places, nodes: make([]node, 0, len(places))}
	return g.node(root, nil)
}

// node makes the nodes of el and of all within it.
func (g *grower) node(el *etree.Element, parent *node) *node {
	g.nodes = append(g.nodes, node{el: el, parent: parent, at: g.places[len(g.nodes)]})
	n := &g.nodes[len(g.nodes)-1]
	if parent != nil {
		n.ns = parent.ns
	}
	g.declare(n)
	g.p.checkRepeated(n)
	n.vocab = g.vocabulary(n)

	link := &n.first
	for _, token := range el.Child {
		if child, ok := token.(*etree.Element); ok {
			c := g.node(child, n)
			*link = c
			link = &c.next
		}
	}
	return n
}

// declare enters the prefixes that n declares.
func (g *grower) declare(n *node) {
	var uris map[string]string
	for i := range n.el.Attr {
		a := &n.el.Attr[i]
		prefix := a.Key
		switch {
		case a.Space == "xmlns":
		case a.Space == "" && a.Key == "xmlns":
			prefix = ""
		default:
			continue
		}
		if uris == nil {
			uris = make(map[string]string)
		}
		uris[prefix] = g.p.namespace(n, prefix, a.Value)
	}
	if uris != nil {
		n.ns = &scope{n.ns, uris}
	}
}

// namespace checks a declared namespace and returns it as Windows writes it.
func (p *parser) namespace(n *node, prefix, uri string) string {
	canonical := canonicalURI(uri)
	if canonical != uri {
		p.strictly(n, "namespace %s begins with https, which makes it a different one to Windows; write %s", quote(uri), quote(canonical))
	}
	if prefix == "etwgen" && uri != ExtensionNamespace {
		p.doubt(n, "prefix etwgen stands for %s, so etwgen ignores everything that has it; write xmlns:etwgen=%q", quote(uri), ExtensionNamespace)
	}
	return canonical
}

// vocabulary returns the vocabulary that n belongs to.
func (g *grower) vocabulary(n *node) vocabulary {
	uri, ok := n.ns.lookup(n.el.Space)
	switch {
	case !ok:
		c := cause{nil, "prefix", n.el.Space, "element"}
		if !g.p.seen(c) {
			g.p.causes[c] = g.p.strictly(n, "prefix %s of element %s is not declared; declare it with xmlns:%s",
				quote(n.el.Space), quote(n.el.Tag), trim(n.el.Space))
		}
		return foreign
	case uri == eventsURI:
		return events
	case uri == ExtensionNamespace:
		return extension
	case uri == "" && n.el.Tag == rootTag && n.parent == nil:
		g.p.strictly(n, "the manifest has no namespace; add xmlns=%q", eventsURI)
		return events
	case uri == "" && n.parent != nil && n.parent.vocab == events:
		return events // in a manifest without any namespace; one was asked for above
	}
	return foreign
}

// checkRepeated reports attributes that an element has twice.
func (p *parser) checkRepeated(n *node) {
	attrs := n.el.Attr
	const few = 16
	if len(attrs) <= few {
		for i := range attrs {
			for j := range i {
				if attrs[i].Key == attrs[j].Key && attrs[i].Space == attrs[j].Space {
					p.repeated(n, &attrs[i])
				}
			}
		}
		return
	}
	type name struct{ space, key string }
	seen := make(map[name]bool, len(attrs))
	for i := range attrs {
		k := name{attrs[i].Space, attrs[i].Key}
		if seen[k] {
			p.repeated(n, &attrs[i])
		}
		seen[k] = true
	}
}

func (p *parser) repeated(n *node, a *etree.Attr) {
	p.fail(n, "element %s has attribute %s twice; remove one", quote(n.el.Tag), quote(a.Key))
}
