package manifest

import (
	"bytes"
	"strconv"
	"strings"
)

// maxDepth is how deep elements may nest. Manifests need twelve; the rest is
// room for the user data of templates, which may be any XML.
const maxDepth = 256

// quoteHint says how to fix the usual fault: text that was put into an attribute
// unescaped.
const quoteHint = "inside a value write &quot; for \", and put a space between attributes"

// A place is a line and a column, both from 1.
type place struct{ line, col int }

func (a place) before(b place) bool {
	return a.line < b.line || a.line == b.line && a.col < b.col
}

// A scanner walks the markup of a document. It finds the place of every element, which the
// tree of package etree does not keep, and it finds text that is not well-formed: package
// xml is more tolerant than other parsers are, and knows only the line.
//
// It leaves values alone: package etree reads those.
type scanner struct {
	src    []byte
	starts []place // of the elements, in document order

	open []openElement

	// Where the counting of lines has got to.
	counted   int
	line      int
	lineStart int
}

// An openElement is one whose end has not been seen.
type openElement struct {
	name []byte
	at   place
}

// A markupError is the first place where a document is not well-formed.
type markupError struct {
	at  place
	msg string
}

// scan walks over src.
func scan(src []byte) ([]place, *markupError) {
	s := &scanner{src: src, line: 1, starts: make([]place, 0, bytes.Count(src, []byte("<")))}
	err := s.document()
	return s.starts, err
}

// placeOf returns the place of an offset. Offsets must not go back to an
// earlier line than the last one.
func (s *scanner) placeOf(offset int) place {
	if offset > s.counted {
		passed := s.src[s.counted:offset]
		if n := bytes.Count(passed, []byte("\n")); n > 0 {
			s.line += n
			s.lineStart = s.counted + bytes.LastIndexByte(passed, '\n') + 1
		}
		s.counted = offset
	}
	return place{s.line, offset - s.lineStart + 1}
}

// fail reports a fault at an offset, with the text found there.
func (s *scanner) fail(offset int, msg string) *markupError {
	return &markupError{s.placeOf(offset), "not well-formed XML at " + s.excerpt(offset) + ": " + msg}
}

// excerpt returns the first characters after an offset on its line.
func (s *scanner) excerpt(offset int) string {
	const width = 40
	rest := s.src[offset:]
	if len(rest) == 0 {
		return "the end of the file"
	}
	if i := bytes.IndexAny(rest, "\r\n"); i > 0 {
		rest = rest[:i]
	}
	if len(rest) > width {
		return strconv.Quote(string(rest[:width])) + "..."
	}
	return strconv.Quote(string(rest))
}

// document walks over everything.
func (s *scanner) document() *markupError {
	i := 0
	for {
		next := len(s.src)
		if j := bytes.IndexByte(s.src[i:], '<'); j >= 0 {
			next = i + j
		}
		if err := s.text(i, next); err != nil {
			return err
		}
		if next == len(s.src) {
			break
		}
		var err *markupError
		if i, err = s.markup(next); err != nil {
			return err
		}
	}
	if len(s.open) > 0 {
		top := s.open[len(s.open)-1]
		return s.fail(len(s.src), "element "+quote(string(top.name))+" of line "+strconv.Itoa(top.at.line)+
			" is not closed; is the file cut off?")
	}
	if len(s.starts) == 0 {
		return s.fail(len(s.src), "no root element: this is not a manifest")
	}
	return nil
}

// text checks the characters between two pieces of markup.
func (s *scanner) text(from, to int) *markupError {
	t := s.src[from:to]
	if len(s.open) == 0 {
		if space := skipSpace(t, 0); space < len(t) {
			where := "before the first element"
			if len(s.starts) > 0 {
				where = "after the last element"
			}
			return s.fail(from+space, "text "+where+"; remove it")
		}
		return nil
	}
	if i := bytes.Index(t, []byte("]]>")); i >= 0 {
		return s.fail(from+i, "]]> outside CDATA; write ]]&gt;")
	}
	return s.references(from, to)
}

// references checks the entities and character references between two offsets.
func (s *scanner) references(from, to int) *markupError {
	for i := from; ; i++ {
		j := bytes.IndexByte(s.src[i:to], '&')
		if j < 0 {
			return nil
		}
		i += j
		if !isReference(s.src[i+1 : to]) {
			return s.fail(i, "not one of &amp; &lt; &gt; &quot; &apos; and &#number;; an & by itself is written &amp;")
		}
	}
}

// isReference reports whether t starts with the rest of a reference after an ampersand.
func isReference(t []byte) bool {
	const longest = 10 // of those that are in use: #x0010FFFF
	end := bytes.IndexByte(t[:min(len(t), longest+1)], ';')
	if end < 0 {
		return false
	}
	name := string(t[:end])
	switch name {
	case "amp", "lt", "gt", "quot", "apos":
		return true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return false
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return err == nil && n <= 0x10ffff && isXMLChar(rune(n))
}

// markup walks over the markup that starts at i, and returns where it ends.
func (s *scanner) markup(i int) (int, *markupError) {
	rest := s.src[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("</")):
		return s.endTag(i)
	case bytes.HasPrefix(rest, []byte("<!--")):
		return s.comment(i)
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		if len(s.open) == 0 {
			return 0, s.fail(i, "CDATA outside the root element; remove it")
		}
		return s.until(i, "]]>", "CDATA")
	case bytes.HasPrefix(rest, []byte("<?")):
		return s.until(i, "?>", "processing instruction")
	case bytes.HasPrefix(rest, []byte("<!")):
		return 0, s.fail(i, "a manifest cannot have a document type declaration or entities of its own; remove it")
	}
	return s.startTag(i)
}

// until walks to the end of a construct that a fixed text closes.
func (s *scanner) until(i int, end, what string) (int, *markupError) {
	j := bytes.Index(s.src[i:], []byte(end))
	if j < 0 {
		return 0, s.fail(i, "the "+what+" is not closed by "+end)
	}
	return i + j + len(end), nil
}

// comment walks over <!-- ... -->, which must not contain --.
func (s *scanner) comment(i int) (int, *markupError) {
	body := i + len("<!--")
	j := bytes.Index(s.src[body:], []byte("--"))
	if j < 0 {
		return 0, s.fail(i, "the comment is not closed by -->")
	}
	end := body + j
	if !bytes.HasPrefix(s.src[end:], []byte("-->")) {
		return 0, s.fail(end, "-- inside a comment; remove a hyphen")
	}
	return end + len("-->"), nil
}

// endTag walks over </name>.
func (s *scanner) endTag(i int) (int, *markupError) {
	end := nameEnd(s.src, i+2)
	name := s.src[i+2 : end]
	closed := skipSpace(s.src, end)
	if closed == len(s.src) || s.src[closed] != '>' {
		return 0, s.fail(i, "an end tag has the form </name>")
	}
	if len(s.open) == 0 {
		return 0, s.fail(i, "no element is open here; remove the end tag")
	}
	top := s.open[len(s.open)-1]
	if !bytes.Equal(name, top.name) {
		return 0, s.fail(i, "element "+quote(string(top.name))+" of line "+strconv.Itoa(top.at.line)+" is still open here; close it first")
	}
	s.open = s.open[:len(s.open)-1]
	return closed + 1, nil
}

// startTag walks over <name attribute="value" ...> or the same with />.
func (s *scanner) startTag(i int) (int, *markupError) {
	end := nameEnd(s.src, i+1)
	if end == i+1 || !isNameStart(s.src[i+1]) {
		return 0, s.fail(i, "not the start of an element; a < in text is written &lt;")
	}
	if len(s.open) == 0 && len(s.starts) > 0 {
		return 0, s.fail(i, "a second root element; a document has only one")
	}
	at := s.placeOf(i)
	if len(s.open) == maxDepth {
		return 0, &markupError{at, "elements are nested more than " + strconv.Itoa(maxDepth) + " deep; this is not a manifest"}
	}
	s.starts = append(s.starts, at)
	s.open = append(s.open, openElement{s.src[i+1 : end], at})

	after := "the name of the element"
	for {
		next := skipSpace(s.src, end)
		switch {
		case next == len(s.src):
			return 0, s.fail(i, "the tag is not closed by >; is the file cut off?")
		case s.src[next] == '>':
			return next + 1, nil
		case bytes.HasPrefix(s.src[next:], []byte("/>")):
			s.open = s.open[:len(s.open)-1]
			return next + 2, nil
		case next == end:
			return 0, s.fail(next, "unescaped text directly after "+after+"; "+quoteHint)
		}
		nameTo := nameEnd(s.src, next)
		if nameTo == next || !isNameStart(s.src[next]) {
			return 0, s.fail(next, "not the name of an attribute, probably unescaped text; "+quoteHint)
		}
		attr := s.src[next:nameTo]
		var err *markupError
		if end, err = s.value(nameTo, attr); err != nil {
			return 0, err
		}
		after = "the value of " + quote(string(attr))
	}
}

// value walks over ="..." and returns where it ends.
func (s *scanner) value(i int, attr []byte) (int, *markupError) {
	equals := skipSpace(s.src, i)
	if equals == len(s.src) || s.src[equals] != '=' {
		return 0, s.fail(i-len(attr), "attribute without a value, probably unescaped text; "+quoteHint)
	}
	open := skipSpace(s.src, equals+1)
	if open == len(s.src) || s.src[open] != '"' && s.src[open] != '\'' {
		return 0, s.fail(min(open, len(s.src)), "the value of "+quote(string(attr))+" is not in quotes")
	}
	from := open + 1
	value := s.src[from:]
	n := bytes.IndexByte(value, s.src[open])
	if n >= 0 {
		value = value[:n]
	}
	if less := bytes.IndexByte(value, '<'); less >= 0 {
		return 0, s.fail(from+less, "unescaped < inside the value of "+quote(string(attr))+"; write &lt;, or close the quote")
	}
	if n < 0 {
		return 0, s.fail(open, "the value of "+quote(string(attr))+" is not closed by a quote; is the file cut off?")
	}
	if err := s.references(from, from+n); err != nil {
		return 0, err
	}
	return from + n + 1, nil
}

// skipSpace returns the offset of the first byte from i on that is not a space.
func skipSpace(p []byte, i int) int {
	for i < len(p) && (p[i] == ' ' || p[i] == '\n' || p[i] == '\t' || p[i] == '\r') {
		i++
	}
	return i
}

// nameEnd returns where the name at i ends.
func nameEnd(p []byte, i int) int {
	for i < len(p) && isNameByte(p[i]) {
		i++
	}
	return i
}

// isNameByte reports whether c can be part of a name. Package xml has the last
// word on characters beyond ASCII.
func isNameByte(c byte) bool {
	return isNameStart(c) || '0' <= c && c <= '9' || c == '-' || c == '.'
}

// isNameStart reports whether a name can start with c.
func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}
