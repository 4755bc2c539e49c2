package evtx

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxXML bounds the XML of a record: a template may have many places for one large value.
const maxXML = 4 << 20

var errLong = errors.New("its XML has more than 4 MiB")

// nodesXML appends the XML of nodes, in one line, as wevtutil prints it.
func (c *context) nodesXML(b []byte, list []node) ([]byte, error) {
	err := c.resolve(list, func(c *context, n *node) (err error) {
		switch n.kind {
		case isElement:
			b, err = c.element(b, n)
		case isText:
			b = escaped(b, n.value)
		case isSubstitution:
			b = escaped(b, c.at(n))
		}
		if err == nil && len(b) > maxXML {
			err = errLong
		}
		return err
	})
	return b, err
}

// element appends an element. One whose value is an array of texts is there once for each, and
// one without attributes whose value may be missing, and is, not at all.
func (c *context) element(b []byte, n *node) ([]byte, error) {
	if c.depth++; c.depth > 2*maxDepth {
		return b, errDeep
	}
	defer func() { c.depth-- }()
	if len(n.children) == 1 && n.children[0].kind == isSubstitution {
		v := c.at(&n.children[0])
		if n.children[0].optional && v.isNull() && len(n.attrs) == 0 {
			return b, nil
		}
		if v.typ == typeText|typeArray {
			return c.repeated(b, n, v)
		}
	}
	b = c.tag(b, n)
	if len(n.children) == 0 {
		return append(b, "/>"...), nil
	}
	b, err := c.nodesXML(append(b, '>'), n.children)
	return append(append(append(b, "</"...), n.name...), '>'), err
}

// repeated appends an element for each text of an array.
func (c *context) repeated(b []byte, n *node, v value) ([]byte, error) {
	for len(v.data) > 1 {
		end := 0
		for end+1 < len(v.data) && (v.data[end] != 0 || v.data[end+1] != 0) {
			end += 2
		}
		b = append(c.tag(b, n), '>')
		b = escaped(b, value{typeText, v.data[:min(end, len(v.data))]})
		b = append(append(append(b, "</"...), n.name...), '>')
		v.data = v.data[min(end+2, len(v.data)):]
		if !c.step() || len(b) > maxXML {
			return b, errLong
		}
	}
	return b, nil
}

// tag appends the beginning of an element, without the end of its tag. An attribute whose value
// may be missing, and is, is left out.
func (c *context) tag(b []byte, n *node) []byte {
	b = append(append(b, '<'), n.name...)
	for i := range n.attrs {
		a := &n.attrs[i]
		if len(a.children) == 1 && a.children[0].optional && c.at(&a.children[0]).isNull() {
			continue
		}
		b = append(append(append(b, ' '), a.name...), "='"...)
		b = append(escaped(b, c.single(a.children)), '\'')
	}
	return b
}

// escaped appends a value with the special characters of XML marked up. Characters that XML
// has not become U+FFFD.
func escaped(b []byte, v value) []byte {
	begin := len(b)
	b = v.appendText(b)
	if !bytes.ContainsFunc(b[begin:], isMarked) {
		return b
	}
	text := string(b[begin:])
	b = b[:begin]
	for _, r := range text {
		switch {
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '\'':
			b = append(b, "&apos;"...)
		case r == '"':
			b = append(b, "&quot;"...)
		case isMarked(r):
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// isMarked reports whether a character cannot stand for itself.
func isMarked(r rune) bool {
	switch r {
	case '<', '>', '&', '\'', '"', 0xfffe, 0xffff:
		return true
	case '\t', '\n', '\r':
		return false
	}
	return r < ' '
}

// xml returns the text of a value that is XML.
func (c *context) xml(v value) (value, error) {
	var b []byte
	err := c.inside(v, func(c *context, n *node) (err error) {
		b, err = c.nodesXML(b, []node{*n})
		return err
	})
	return value{typeText, etw.MakeUTF16(string(b))}, err
}
