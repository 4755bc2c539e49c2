package evtx

import (
	"encoding/binary"
	"fmt"
)

// An instance is a template with its values.
type instance struct {
	*template
	values []value
}

// A template is XML with places for values.
type template struct {
	nodes []node
	names []name // of its values, by index: see namesOf
	id    [4]byte
	next  int // where in the chunk what is behind its definition lies
}

// instance reads an instance of a template behind its token.
func (s *scope) instance() (*instance, error) {
	head, err := s.take(9) // 1, the id, where the definition lies
	if err != nil {
		return nil, err
	}
	at := binary.LittleEndian.Uint32(head[5:])
	t, err := s.definition(at)
	if err != nil {
		return nil, err
	}
	if t.id != [4]byte(head[1:]) {
		return nil, fmt.Errorf("the template at %d is another one: it is overwritten", at)
	}
	if int64(at) == int64(s.at) {
		if t.next > s.end {
			return nil, errShort
		}
		s.at = t.next
	}
	n, err := s.uint32()
	if err != nil {
		return nil, err
	}
	if int64(n) > int64(s.end-s.at)/4 {
		return nil, fmt.Errorf("offset %d: %d values, which the record has no room for", s.at-4, n)
	}
	if err := s.count(int(n)); err != nil {
		return nil, err
	}
	heads, err := s.take(4 * int(n))
	if err != nil {
		return nil, err
	}
	of := &instance{t, make([]value, n)}
	for i := range of.values {
		size := binary.LittleEndian.Uint16(heads[4*i:])
		of.values[i].typ = heads[4*i+2]
		if of.values[i].data, err = s.take(int(size)); err != nil {
			return nil, fmt.Errorf("value %d of %d: %w", i, n, err)
		}
	}
	return of, nil
}

// definition returns the template whose definition lies at an offset of the chunk.
func (s *scope) definition(at uint32) (*template, error) {
	if t, ok := s.templates[at]; ok {
		if t == nil {
			return nil, fmt.Errorf("the template at %d is damaged, or within itself", at)
		}
		return t, nil
	}
	in := scope{parser: s.parser, at: int(at), end: len(s.b), depth: s.depth, template: true}
	if int64(at) > int64(len(s.b)) {
		return nil, fmt.Errorf("a template at %d, outside of the chunk", at)
	}
	head, err := in.take(24) // the next of its bucket, its GUID, its size
	if err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[20:])
	if int64(size) > int64(in.end-in.at) {
		return nil, fmt.Errorf("the template at %d has %d bytes, which the chunk has no room for", at, size)
	}
	in.end = in.at + int(size)
	t := &template{next: in.end, id: [4]byte(head[4:])}
	s.templates[at] = nil // until it is read
	if t.nodes, err = in.fragment(); err != nil {
		return nil, fmt.Errorf("the template at %d: %w", at, err)
	}
	if in.at != in.end {
		return nil, fmt.Errorf("the template at %d ends at %d, not at %d: it is overwritten", at, in.at, in.end)
	}
	t.names = namesOf(t.nodes)
	s.templates[at] = t
	return t, nil
}

// nested reads the XML that is the value of another: it lies in the chunk, without a size of
// its own.
func (p *parser) nested(v value, depth int) ([]node, error) {
	if len(v.data) == 0 {
		return nil, nil
	}
	at := cap(p.b) - cap(v.data) // both end where the memory of the chunk does
	in := scope{parser: p, at: at, end: at + len(v.data), depth: depth}
	return in.fragment()
}
