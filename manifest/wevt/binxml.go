package wevt

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The tokens of binary XML.
const (
	tokenEnd          = 0x00
	tokenElement      = 0x01
	tokenCloseStart   = 0x02
	tokenCloseEmpty   = 0x03
	tokenCloseElement = 0x04
	tokenText         = 0x05
	tokenAttr         = 0x06
	tokenSubstitution = 0x0d
	tokenFragment     = 0x0f
	tokenMore         = 0x40 // an element has attributes, or an attribute a successor
)

// maxElements is how deep elements may be nested.
const maxElements = 64

// An xmlEncoder makes binary XML. It has the fields that %1, %2 and so on stand for.
type xmlEncoder struct {
	b     []byte
	types []byte // of the substitutions
}

// fragment encodes a fragment with one element.
func (x *xmlEncoder) fragment(list []*manifest.Element) {
	x.b = append(x.b, tokenFragment, 1, 1, 0)
	for _, e := range list {
		x.element(e)
	}
	x.b = append(x.b, tokenEnd)
}

func (x *xmlEncoder) element(e *manifest.Element) {
	token := byte(tokenElement)
	if len(e.Attrs) > 0 {
		token |= tokenMore
	}
	x.b = append(x.b, token, 0xff, 0xff)
	x.sized(func() {
		x.name(e.Name)
		if len(e.Attrs) > 0 {
			x.sized(func() { x.attrs(e.Attrs) })
		}
		x.b = append(x.b, tokenCloseStart)
		x.text(e.Text)
		for _, c := range e.Children {
			x.element(c)
		}
		x.b = append(x.b, tokenCloseElement)
	})
}

// sized writes the size of the output of write before it.
func (x *xmlEncoder) sized(write func()) {
	at := len(x.b)
	x.b = append(x.b, 0, 0, 0, 0)
	write()
	binary.LittleEndian.PutUint32(x.b[at:], uint32(len(x.b)-at-4))
}

func (x *xmlEncoder) attrs(attrs []manifest.Attr) {
	for i, a := range attrs {
		token := byte(tokenAttr)
		if i+1 < len(attrs) {
			token |= tokenMore
		}
		x.b = append(x.b, token)
		x.name(a.Name)
		x.text(a.Value)
	}
}

// name writes a name with its hash.
func (x *xmlEncoder) name(s string) {
	units := utf16.Encode([]rune(s))
	hash := uint32(0)
	for _, u := range units {
		hash = hash*65599 + uint32(u)
	}
	x.b = binary.LittleEndian.AppendUint16(x.b, uint16(hash))
	x.b = binary.LittleEndian.AppendUint16(x.b, uint16(len(units)))
	x.b = etw.AppendUTF16(x.b, s)
	x.b = append(x.b, 0, 0)
}

// text writes text with substitutions. One of a field that there is not is text.
func (x *xmlEncoder) text(s string) {
	plain := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		end := i + 1
		for end < len(s) && '0' <= s[end] && s[end] <= '9' {
			end++
		}
		field, err := strconv.Atoi(s[i+1 : end])
		if err != nil || field < 1 || field > len(x.types) {
			continue
		}
		x.plain(s[plain:i])
		x.b = append(x.b, tokenSubstitution)
		x.b = binary.LittleEndian.AppendUint16(x.b, uint16(field-1))
		x.b = append(x.b, x.types[field-1])
		plain = end
		i = end - 1
	}
	x.plain(s[plain:])
}

func (x *xmlEncoder) plain(s string) {
	if s == "" {
		return
	}
	x.b = append(x.b, tokenText, 1)
	x.b = binary.LittleEndian.AppendUint16(x.b, uint16(len(utf16.Encode([]rune(s)))))
	x.b = etw.AppendUTF16(x.b, s)
}

// An xmlDecoder reads binary XML.
type xmlDecoder struct {
	b   []byte
	pos int
	err error
}

var errShortXML = errors.New("the binary XML ends too early")

func (x *xmlDecoder) take(n int) []byte {
	if x.err == nil && n > len(x.b)-x.pos {
		x.err = errShortXML
	}
	if x.err != nil {
		return make([]byte, min(n, 4))
	}
	x.pos += n
	return x.b[x.pos-n : x.pos]
}

func (x *xmlDecoder) token() byte { return x.take(1)[0] }
func (x *xmlDecoder) u16() uint16 { return binary.LittleEndian.Uint16(x.take(2)) }
func (x *xmlDecoder) u32() uint32 { return binary.LittleEndian.Uint32(x.take(4)) }
func (x *xmlDecoder) peek() byte {
	if x.err != nil || x.pos >= len(x.b) {
		x.err = errShortXML
		return tokenEnd
	}
	return x.b[x.pos]
}

func (x *xmlDecoder) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

// fragment reads a fragment, and returns the elements in it.
func (x *xmlDecoder) fragment() []*manifest.Element {
	if x.u32() != tokenFragment|1<<8|1<<16 {
		x.fail("no fragment of binary XML")
	}
	var list []*manifest.Element
	for x.err == nil && x.peek() != tokenEnd {
		list = append(list, x.element(0))
	}
	x.token()
	return list
}

func (x *xmlDecoder) element(depth int) *manifest.Element {
	token := x.token()
	if token&^tokenMore != tokenElement {
		x.fail("token %#x where an element begins", token)
	}
	if depth > maxElements {
		x.fail("elements are nested more than %d deep", maxElements)
	}
	x.u16()
	x.u32()
	e := &manifest.Element{Name: x.name()}
	if token&tokenMore != 0 {
		e.Attrs = x.attrs()
	}
	switch t := x.token(); t {
	case tokenCloseEmpty:
		return e
	case tokenCloseStart:
	default:
		x.fail("token %#x where the start of element %s ends", t, e.Name)
	}
	e.Text = x.text()
	for x.err == nil && x.peek() != tokenCloseElement {
		e.Children = append(e.Children, x.element(depth+1))
	}
	x.token()
	return e
}

func (x *xmlDecoder) attrs() []manifest.Attr {
	x.u32()
	var attrs []manifest.Attr
	for x.err == nil {
		token := x.token()
		if token&^tokenMore != tokenAttr {
			x.fail("token %#x where an attribute begins", token)
			break
		}
		attrs = append(attrs, manifest.Attr{Name: x.name(), Value: x.text()})
		if token&tokenMore == 0 {
			break
		}
	}
	return attrs
}

func (x *xmlDecoder) name() string {
	at := x.pos
	x.u16() // the hash
	name := etw.UTF16(x.take(2 * int(x.u16()))).String()
	x.u16() // NUL
	if x.err == nil && !isXMLName(name) {
		x.fail("%q is no name of an element or attribute", name)
		x.pos = at
	}
	return name
}

// text reads text and substitutions, which become %1 and so on.
func (x *xmlDecoder) text() string {
	var s strings.Builder
	for x.err == nil {
		switch x.peek() {
		case tokenText:
			at := x.pos
			x.u16()
			text := etw.UTF16(x.take(2 * int(x.u16()))).String()
			if !isText(text) {
				x.fail("%q has characters that no XML has", text)
				x.pos = at
			}
			s.WriteString(text)
		case tokenSubstitution:
			x.token()
			fmt.Fprintf(&s, "%%%d", int(x.u16())+1)
			x.token() // the type, which is that of the field
		default:
			return s.String()
		}
	}
	return s.String()
}

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
