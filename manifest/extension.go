package manifest

import (
	"go/token"
	"strings"

	"github.com/beevik/etree"
)

// extensionAttrs lists the names of the extension namespace that each element may
// have. Elements that are not listed may have none.
var extensionAttrs = map[string][]string{
	"provider": {"doc", "name", "events"},
	"event":    {"doc", "name", "fields", "named", "level"},
	"template": {"doc", "name"},
	"data":     {"doc", "name", "count", "length", "inType", "when", "opaque"},
	"struct":   {"doc", "name", "count"},
	"keyword":  {"doc", "name", "costly"},
	"task":     {"doc", "name"},
	"opcode":   {"doc", "name"},
	"level":    {"doc", "name"},
	"valueMap": {"doc", "name"},
	"bitMap":   {"doc", "name"},
	"map":      {"doc", "name"},
}

// inExtension reports whether an attribute is in the extension namespace.
func (n *node) inExtension(a *etree.Attr) bool {
	if a.Space == "" || a.Space == "xmlns" {
		return false // attributes without a prefix are in no namespace
	}
	uri, _ := n.ns.lookup(a.Space)
	return uri == ExtensionNamespace
}

// extension returns an attribute in the extension namespace.
func (n *node) extension(key string) (string, bool) {
	for i := range n.el.Attr {
		if a := &n.el.Attr[i]; a.Key == key && n.inExtension(a) {
			return a.Value, true
		}
	}
	return "", false
}

// docName returns etwgen:doc and etwgen:name.
func (p *parser) docName(n *node) (doc, name string) {
	doc, given := n.extension("doc")
	for c := n.first; c != nil; c = c.next {
		if c.vocab == extension && c.el.Tag == "doc" {
			if given {
				p.fail(c, "%s has more than one doc; combine them", n.el.Tag)
			}
			doc, given = c.el.Text(), true
		}
	}
	name, ok := n.extension("name")
	switch {
	case !ok:
	case n.el.Tag == "provider":
		if !token.IsIdentifier(name) {
			p.fail(n, "etwgen:name %s is not a Go identifier; use letters, digits and _, and begin with a letter", quote(name))
		}
	case !token.IsIdentifier(name) || !token.IsExported(name):
		p.fail(n, "etwgen:name %s is not an exported Go identifier; use letters, digits and _, and begin with an upper-case letter", quote(name))
	}
	return paragraphs(doc), name
}

// paragraphs returns a text with single spaces within a paragraph and an empty
// line between two, however it was laid out in the manifest.
func paragraphs(s string) string {
	var out strings.Builder
	gap := ""
	for line := range strings.Lines(s) {
		words := strings.Fields(line)
		if len(words) == 0 {
			if gap != "" {
				gap = "\n\n"
			}
			continue
		}
		for _, w := range words {
			out.WriteString(gap)
			out.WriteString(w)
			gap = " "
		}
	}
	return out.String()
}
