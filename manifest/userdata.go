package manifest

import (
	"strings"

	"github.com/beevik/etree"
)

// userData reads the layout that a template has for display.
func userData(template *node) []*Element {
	var list []*Element
	for n := range template.children("UserData") {
		list = append(list, elements(n.el)...)
	}
	return list
}

// elements returns the elements within one of package etree. The rest of it has no meaning
// beside them.
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
