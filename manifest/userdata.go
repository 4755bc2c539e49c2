package manifest

import (
	"encoding/xml"
	"strings"

	"github.com/beevik/etree"
)

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

// UserDataXML returns UserData as one line of XML, empty if there is none.
func (t *Template) UserDataXML() string {
	var b strings.Builder
	text := func(s string) { xml.EscapeText(&b, []byte(s)) } // into memory
	var add func(list []*Element)
	add = func(list []*Element) {
		for _, e := range list {
			b.WriteString("<" + e.Name)
			for _, a := range e.Attrs {
				b.WriteString(" " + a.Name + `="`)
				text(a.Value)
				b.WriteByte('"')
			}
			b.WriteByte('>')
			text(e.Text)
			add(e.Children)
			b.WriteString("</" + e.Name + ">")
		}
	}
	add(t.UserData)
	return b.String()
}
