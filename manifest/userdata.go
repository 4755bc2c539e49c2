package manifest

import (
	"strings"

	"github.com/beevik/etree"
)

// An Element is a part of the XML in which the event log shows an event.
type Element struct {
	Name     string // as written, with its prefix
	Attrs    []Attr
	Text     string // with fields as %1, %2 and so on; "" if there are Children
	Children []*Element
}

// An Attr is an attribute of an [Element]. A field in the value is as in a Text.
type Attr struct{ Name, Value string }

// userData reads what a template says of how it is shown.
func userData(template *node) []*Element {
	var list []*Element
	for n := range template.children("UserData") {
		list = append(list, elements(n.el)...)
	}
	return list
}

// elements returns the elements within one of package etree. What else is in it
// has no meaning beside them.
func elements(parent *etree.Element) []*Element {
	var list []*Element
	for _, el := range parent.ChildElements() {
		e := &Element{Name: el.FullTag(), Children: elements(el)}
		for _, a := range el.Attr {
			e.Attrs = append(e.Attrs, Attr{a.FullKey(), a.Value})
		}
		if e.Children == nil {
			e.Text = strings.TrimSpace(el.Text())
		}
		list = append(list, e)
	}
	return list
}
