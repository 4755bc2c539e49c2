package wevt

import (
	"encoding/xml"
	"strings"
	"unicode/utf8"
)

// isXMLName reports whether an element or an attribute can have a name.
func isXMLName(s string) bool {
	token, err := xml.NewDecoder(strings.NewReader("<" + s + "/>")).RawToken()
	start, ok := token.(xml.StartElement)
	name := start.Name.Local
	if start.Name.Space != "" {
		name = start.Name.Space + ":" + name
	}
	return err == nil && ok && name == s
}

// isText reports whether XML can have all characters of a text. Halves of surrogate
// pairs, which UTF-16 can have alone, are replaced when it is decoded.
func isText(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == utf8.RuneError || c == 0xfffe || c == 0xffff
	})
}
