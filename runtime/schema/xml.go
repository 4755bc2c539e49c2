package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// An xmlScanner finds the tags of an XML document. It knows the elements of manifests:
// elements and attributes, in UTF-8, with character references. Text between tags, comments,
// declarations and processing instructions are passed over, prefixes of names are dropped.
// Everything that it returns is a part of the document: in a trace of some 20,000 records,
// reading the manifests with encoding/xml is most of the memory that is allocated.
type xmlScanner struct {
	s string
	// After next: the local name of an element, and the text of its attributes.
	name       string
	attributes string
	empty      bool // the element has no end tag
}

type xmlTag uint8

const (
	xmlEOF xmlTag = iota
	xmlStart
	xmlEnd
)

// next moves to the next tag. A document that breaks off ends there.
func (x *xmlScanner) next() xmlTag {
	for {
		open := strings.IndexByte(x.s, '<')
		if open < 0 {
			return xmlEOF
		}
		x.s = x.s[open+1:]
		switch {
		case strings.HasPrefix(x.s, "!--"):
			x.skip("-->")
		case strings.HasPrefix(x.s, "![CDATA["):
			x.skip("]]>")
		case strings.HasPrefix(x.s, "?"):
			x.skip("?>")
		case strings.HasPrefix(x.s, "!"):
			x.skip(">")
		case strings.HasPrefix(x.s, "/"):
			x.s = x.s[1:]
			tag := x.tag()
			x.name = localName(strings.TrimRight(tag, xmlSpace))
			return xmlEnd
		default:
			tag := x.tag()
			tag, x.empty = strings.CutSuffix(tag, "/")
			n := strings.IndexAny(tag, xmlSpace)
			if n < 0 {
				n = len(tag)
			}
			x.name, x.attributes = localName(tag[:n]), tag[n:]
			return xmlStart
		}
	}
}

const xmlSpace = " \t\r\n"

// skip moves behind the next end.
func (x *xmlScanner) skip(end string) {
	n := strings.Index(x.s, end)
	if n < 0 {
		x.s = ""
		return
	}
	x.s = x.s[n+len(end):]
}

// tag returns the rest of a tag, up to its >, and moves behind it. A > in a quoted value
// does not count.
func (x *xmlScanner) tag() string {
	var quote byte
	for i := 0; i < len(x.s); i++ {
		switch c := x.s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			tag := x.s[:i]
			x.s = x.s[i+1:]
			return tag
		}
	}
	tag := x.s
	x.s = ""
	return tag
}

func localName(name string) string {
	if _, local, ok := strings.Cut(name, ":"); ok {
		return local
	}
	return name
}

// attribute returns the value of an attribute in the text of all of them, or "".
func attribute(attributes, name string) string {
	for {
		key, rest, ok := strings.Cut(attributes, "=")
		if !ok {
			return ""
		}
		rest = strings.TrimLeft(rest, xmlSpace)
		if rest == "" {
			return ""
		}
		value, after, ok := strings.Cut(rest[1:], rest[:1])
		if !ok {
			return ""
		}
		if strings.Trim(key, xmlSpace) == name {
			return unescapeXML(value)
		}
		attributes = after
	}
}

// unescapeXML replaces the character references of s.
func unescapeXML(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "&")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		end := strings.IndexByte(after[:min(len(after), maxReference)], ';')
		r := rune(-1)
		if end >= 0 {
			r = characterOf(after[:end])
		}
		if r < 0 {
			b.WriteByte('&')
			s = after
			continue
		}
		b.WriteRune(r)
		s = after[end+1:]
	}
}

// maxReference bounds the length of a character reference, which takes no more
// than "#x10ffff;" does, but may have zeros in front. Without it, a text of many &
// would be searched through for each.
const maxReference = 32

var entities = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}

// characterOf returns the character that a reference stands for, or -1.
func characterOf(reference string) rune {
	if c, ok := entities[reference]; ok {
		return c
	}
	digits, ok := strings.CutPrefix(reference, "#")
	if !ok {
		return -1
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return -1
	}
	return rune(n)
}
