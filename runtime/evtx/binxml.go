package evtx

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The tokens of binary XML. All but the first ones may have tokenMore.
const (
	tokenEnd          = 0x0
	tokenElement      = 0x1
	tokenCloseStart   = 0x2
	tokenCloseEmpty   = 0x3
	tokenEndTag       = 0x4
	tokenText         = 0x5
	tokenAttribute    = 0x6
	tokenCDATA        = 0x7
	tokenCharRef      = 0x8
	tokenEntity       = 0x9
	tokenTarget       = 0xa
	tokenInstruction  = 0xb
	tokenInstance     = 0xc
	tokenSubstitution = 0xd
	tokenOptional     = 0xe
	tokenFragment     = 0xf
	tokenMore         = 0x40
)

// Limits of binary XML. A chunk of true records has some 12,000 nodes at most; names and
// templates may lie upon each other in a hostile one.
const (
	maxDepth     = 64
	maxNodes     = 1 << 16 // of a chunk, and values
	maxNameBytes = 1 << 20 // of a chunk
)

var (
	errShort = errors.New("it ends within a token")
	errDeep  = fmt.Errorf("elements and templates nest deeper than %d", maxDepth)
	errLarge = errors.New("more nodes than a chunk can hold")
)

// A nodeKind is a kind of content.
type nodeKind uint8

const (
	isElement nodeKind = iota
	isAttribute
	isText // value holds it
	isSubstitution
	isInstance // of a template, with its values
)

// A node is a piece of XML: an element, its attribute, or the content of either.
type node struct {
	kind     nodeKind
	optional bool // a substitution that is left out with what it is in, if it is null
	index    uint16
	name     string
	attrs    []node
	children []node
	value    value
	of       *instance
}

// A value is one that a template is filled with. Its data are those of the chunk.
type value struct {
	typ  uint8
	data []byte
}

// A parser reads the binary XML of a chunk.
type parser struct {
	b         []byte // the chunk
	names     map[uint32]string
	nameBytes int
	templates map[uint32]*template
	nodes     int // that are left
}

func newParser(b []byte) *parser {
	return &parser{b: b, names: map[uint32]string{}, templates: map[uint32]*template{}, nodes: maxNodes}
}

// A scope is a stretch of a chunk that is being read.
type scope struct {
	*parser
	at, end  int
	depth    int
	template bool // elements have the number of another one that they depend on
}

func (s *scope) take(n int) ([]byte, error) {
	if n < 0 || n > s.end-s.at {
		return nil, errShort
	}
	s.at += n
	return s.b[s.at-n : s.at], nil
}

func (s *scope) byte() (uint8, error) {
	b, err := s.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (s *scope) uint16() (uint16, error) {
	b, err := s.take(2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

func (s *scope) uint32() (uint32, error) {
	b, err := s.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// count takes n nodes from the budget of the chunk.
func (p *parser) count(n int) error {
	if p.nodes -= n; p.nodes < 0 {
		return errLarge
	}
	return nil
}

// name reads a name, which stands here or elsewhere in the chunk.
func (s *scope) name() (string, error) {
	at, err := s.uint32()
	if err != nil {
		return "", err
	}
	text, known := s.names[at]
	here := int64(at) == int64(s.at)
	if known && !here {
		return text, nil
	}
	if int64(at)+8 > int64(len(s.b)) {
		return "", fmt.Errorf("a name at %d, outside of the chunk", at)
	}
	n := 2 * int(binary.LittleEndian.Uint16(s.b[at+6:]))
	first := int(at) + 8
	if n+2 > len(s.b)-first {
		return "", errShort
	}
	if here {
		if _, err := s.take(8 + n + 2); err != nil {
			return "", err
		}
	}
	if !known {
		if s.nameBytes += n; s.nameBytes > maxNameBytes {
			return "", errLarge
		}
		if hash(s.b[first:first+n]) != binary.LittleEndian.Uint16(s.b[at+4:]) {
			return "", fmt.Errorf("the name at %d is overwritten", at)
		}
		text = etw.UTF16(s.b[first : first+n]).String()
		s.names[at] = text
	}
	return text, nil
}

// hash is that of a name, by which it is found in its chunk.
func hash(text []byte) uint16 {
	h := uint32(0)
	for i := 0; i+1 < len(text); i += 2 {
		h = h*65599 + uint32(binary.LittleEndian.Uint16(text[i:]))
	}
	return uint16(h)
}

// fragment reads nodes up to the end token or the end of the scope.
func (s *scope) fragment() (list []node, err error) {
	if s.depth++; s.depth > maxDepth {
		return nil, errDeep
	}
	defer func() { s.depth-- }()
	for s.at < s.end {
		switch s.b[s.at] {
		case tokenEnd:
			s.at++
			return list, nil
		case tokenFragment:
			if _, err := s.take(4); err != nil {
				return nil, err
			}
		default:
			n, err := s.nodes("where an element begins")
			if err != nil {
				return nil, err
			}
			list = append(list, n...)
		}
	}
	return list, nil
}

// nodes reads the next part of a place: an element, a template with its values, or content.
func (s *scope) nodes(place string) ([]node, error) {
	switch token := s.b[s.at]; token {
	case tokenInstance:
		s.at++
		of, err := s.instance()
		return []node{{kind: isInstance, of: of}}, err
	case tokenElement, tokenElement | tokenMore:
		s.at++
		e, err := s.element(token&tokenMore != 0)
		return []node{e}, err
	default:
		list, more, err := s.content()
		if err == nil && !more {
			err = fmt.Errorf("offset %d: token %#x %s", s.at, token, place)
		}
		return list, err
	}
}

// element reads an element behind its token.
func (s *scope) element(attributes bool) (e node, err error) {
	if err := s.count(1); err != nil {
		return e, err
	}
	if s.depth++; s.depth > maxDepth {
		return e, errDeep
	}
	defer func() { s.depth-- }()
	head := 4 // the size
	if s.template {
		head += 2 // the element that it depends on
	}
	if _, err := s.take(head); err != nil {
		return e, err
	}
	if e.name, err = s.name(); err != nil {
		return e, err
	}
	if attributes {
		if _, err := s.take(4); err != nil {
			return e, err
		}
		if e.attrs, err = s.attributes(); err != nil {
			return e, err
		}
	}
	switch token, err := s.byte(); {
	case err != nil:
		return e, err
	case token == tokenCloseEmpty:
		return e, nil
	case token != tokenCloseStart:
		return e, fmt.Errorf("offset %d: token %#x within the tag of %s", s.at-1, token, e.name)
	}
	e.children, err = s.children()
	return e, err
}

func (s *scope) attributes() (list []node, err error) {
	for s.at < s.end && s.b[s.at]&^tokenMore == tokenAttribute {
		s.at++
		a := node{kind: isAttribute}
		if err := s.count(1); err != nil {
			return nil, err
		}
		if a.name, err = s.name(); err != nil {
			return nil, err
		}
		for {
			n, more, err := s.content()
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			a.children = append(a.children, n...)
		}
		list = append(list, a)
	}
	return list, nil
}

// children reads the contents of an element, and its end.
func (s *scope) children() (list []node, err error) {
	for s.at < s.end {
		if s.b[s.at] == tokenEndTag {
			s.at++
			return list, nil
		}
		n, err := s.nodes("within an element")
		if err != nil {
			return nil, err
		}
		list = append(list, n...)
	}
	return nil, errShort
}

// content reads a text, a reference or a place for a value, if one is next. Processing
// instructions, which no provider is known to write, are read over.
func (s *scope) content() (list []node, more bool, err error) {
	if s.at >= s.end {
		return nil, false, errShort
	}
	if err := s.count(1); err != nil {
		return nil, false, err
	}
	token := s.b[s.at] &^ tokenMore
	n := node{kind: isText, value: value{typ: typeText}}
	begin := s.at
	s.at++
	switch token {
	case tokenText:
		if n.value.typ, err = s.byte(); err != nil {
			return nil, false, err
		}
		if n.value.typ != typeText {
			return nil, false, fmt.Errorf("offset %d: a text of type %#x", begin, n.value.typ)
		}
		n.value.data, err = s.counted()
	case tokenCDATA:
		n.value.data, err = s.counted()
	case tokenCharRef:
		n.value.data, err = s.take(2)
	case tokenEntity:
		var name string
		name, err = s.name()
		n.value.data = entity(name)
	case tokenTarget:
		_, err = s.name()
		return nil, true, err
	case tokenInstruction:
		_, err = s.counted()
		return nil, true, err
	case tokenSubstitution, tokenOptional:
		n.kind, n.optional = isSubstitution, token == tokenOptional
		if n.index, err = s.uint16(); err == nil {
			n.value.typ, err = s.byte()
		}
	default:
		s.at = begin
		return nil, false, nil
	}
	return []node{n}, true, err
}

// counted reads a text after the number of its characters.
func (s *scope) counted() ([]byte, error) {
	n, err := s.uint16()
	if err != nil {
		return nil, err
	}
	return s.take(2 * int(n))
}

// entity returns the UTF-16 of the character that the name stands for, or the reference itself.
func entity(name string) []byte { return etw.MakeUTF16(cmp.Or(entities[name], "&"+name+";")) }

var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}
