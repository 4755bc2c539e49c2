package manifest

import (
	"strings"
	"unicode/utf8"
)

// An xmlWriter appends XML, one element a line.
type xmlWriter struct {
	b     []byte
	depth int
}

// longDoc is how long documentation may be as an attribute.
const longDoc = 80

func (w *xmlWriter) line(s string) {
	w.indent()
	w.b = append(w.b, s...)
	w.b = append(w.b, '\n')
}

func (w *xmlWriter) indent() {
	for range w.depth {
		w.b = append(w.b, "  "...)
	}
}

// comment writes a comment. Text that would end it is written so that it does not.
func (w *xmlWriter) comment(text string) {
	if text == "" {
		return
	}
	text = strings.ReplaceAll(strings.TrimSpace(text), "--", "- -")
	text = strings.TrimSuffix(text, "-")
	w.b = append(w.b, "<!-- "...)
	w.b = appendXMLText(w.b, text, false)
	w.b = append(w.b, " -->\n"...)
}

// attr writes an attribute.
func (w *xmlWriter) attr(name, value string) {
	w.b = append(w.b, ' ')
	w.b = append(w.b, name...)
	w.b = append(w.b, `="`...)
	w.b = appendXMLText(w.b, value, true)
	w.b = append(w.b, '"')
}

// begin writes a tag with the attributes of the given names and values, but for its end. It
// leaves out empty values, and returns documentation that is too long for an attribute.
func (w *xmlWriter) begin(tag string, attrs ...string) (doc string) {
	w.indent()
	w.b = append(w.b, '<')
	w.b = append(w.b, tag...)
	for i := 0; i < len(attrs); i += 2 {
		name, value := attrs[i], attrs[i+1]
		switch {
		case value == "":
		case name == "etwgen:doc" && (len(value) > longDoc || strings.Contains(value, "\n")):
			doc = value
		default:
			w.attr(name, value)
		}
	}
	return doc
}

// open writes the start of an element that others are in.
func (w *xmlWriter) open(tag string, attrs ...string) { w.body(w.begin(tag, attrs...)) }

// body ends the tag that begin has begun, for others to follow.
func (w *xmlWriter) body(doc string) {
	w.b = append(w.b, ">\n"...)
	w.depth++
	if doc == "" {
		return
	}
	w.indent()
	w.b = append(w.b, "<etwgen:doc>"...)
	w.b = appendXMLText(w.b, doc, false)
	w.b = append(w.b, "</etwgen:doc>\n"...)
}

func (w *xmlWriter) close(tag string) {
	w.depth--
	w.line("</" + tag + ">")
}

// element writes an element that is done.
func (w *xmlWriter) element(tag string, attrs ...string) { w.end(tag, w.begin(tag, attrs...)) }

// end ends the tag that begin has begun, where nothing else follows.
func (w *xmlWriter) end(tag, doc string) {
	if doc == "" {
		w.b = append(w.b, "/>\n"...)
		return
	}
	w.body(doc)
	w.close(tag)
}

// text writes an element with text in it, and empty one without. Unlike the other
// methods they keep attributes of which the value is "".
func (w *xmlWriter) text(tag, text string, attrs ...string) {
	w.verbatim(tag, attrs)
	w.b = append(w.b, '>')
	w.b = appendXMLText(w.b, text, false)
	w.b = append(w.b, "</"+tag+">\n"...)
}

func (w *xmlWriter) empty(tag string, attrs ...string) {
	w.verbatim(tag, attrs)
	w.b = append(w.b, "/>\n"...)
}

func (w *xmlWriter) verbatim(tag string, attrs []string) {
	w.indent()
	w.b = append(w.b, "<"+tag...)
	for i := 0; i < len(attrs); i += 2 {
		w.attr(attrs[i], attrs[i+1])
	}
}

// appendXMLText escapes s. Runes that XML cannot hold become U+FFFD.
func appendXMLText(b []byte, s string, attr bool) []byte {
	for _, r := range s {
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '"' && attr:
			b = append(b, "&quot;"...)
		case r == '\r':
			b = append(b, "&#13;"...)
		case r == '\n' && attr:
			b = append(b, "&#10;"...)
		case r == '\t' && attr:
			b = append(b, "&#9;"...)
		case !isXMLChar(r):
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}
