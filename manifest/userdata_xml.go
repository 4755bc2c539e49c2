package manifest

import (
	"encoding/xml"
	"strings"
)

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
