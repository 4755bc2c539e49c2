package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Reader reads a file of a [Writer]. Those of other programs are an error.
type Reader struct {
	r      io.ReaderAt
	root   []*Node
	leaves []*Leaf // without values
	groups []rowGroup
	rows   int64
}

// A rowGroup says where its columns are.
type rowGroup struct {
	rows   int64
	chunks []place
}

// A place is that of the pages of a column.
type place struct{ at, size int64 }

var errForeign = errors.New("is no file that etwgen has written, or is damaged")

// NewReader reads the description of a file of that size.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	const tail = 4 + len(magic)
	var end [tail]byte
	if size < int64(len(magic)+tail) {
		return nil, errForeign
	}
	if _, err := r.ReadAt(end[:], size-int64(tail)); err != nil && err != io.EOF {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || n > size-int64(len(magic)+tail) {
		return nil, errForeign
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-int64(tail)-n); err != nil && err != io.EOF {
		return nil, err
	}
	f := &Reader{r: r}
	if !f.describe(b, size-int64(tail)-n) {
		return nil, errForeign
	}
	return f, nil
}

// Columns returns the columns of the file, and Rows how many rows it has.
func (f *Reader) Columns() []*Node { return f.root }

// Rows returns the number of rows.
func (f *Reader) Rows() int64 { return f.rows }

// describe takes the description apart. Pages lie before end.
func (f *Reader) describe(b []byte, end int64) bool {
	t := &thriftReader{b: b}
	t.fields(func(id int16, kind byte) {
		switch id {
		case 2:
			var s schema
			t.list(kind, func(kind byte) { s.element(t, kind) })
			f.root = s.nodes()
		case 4:
			t.list(kind, func(kind byte) { f.groups = append(f.groups, readGroup(t, kind)) })
		default:
			t.skip(kind)
		}
	})
	// The reader takes as much of types as tells those of the writer apart: that the columns are
	// the same to the last bit, their description shows once it is written again.
	if t.bad || len(f.root) == 0 || len(leafRanges(f.root)) != len(f.root) || !bytes.HasPrefix(b, schemaOf(f.root).b) {
		return false
	}
	f.leaves = leavesOf(f.root)
	for _, g := range f.groups {
		if len(g.chunks) != len(f.leaves) || g.rows < 0 {
			return false
		}
		f.rows += g.rows
		for _, c := range g.chunks {
			if c.at < int64(len(magic)) || c.size < 0 || c.at > end || c.size > end-c.at {
				return false
			}
		}
	}
	return true
}

// readGroup reads the description of a row group.
func readGroup(t *thriftReader, kind byte) (g rowGroup) {
	t.nest(kind, func(id int16, kind byte) {
		switch id {
		case 1:
			t.list(kind, func(kind byte) {
				t.nest(kind, func(id int16, kind byte) {
					if id == 3 {
						g.chunks = append(g.chunks, readPlace(t, kind))
					} else {
						t.skip(kind)
					}
				})
			})
		case 3:
			g.rows = t.number(kind)
		default:
			t.skip(kind)
		}
	})
	return g
}

// readPlace reads the description of a column of a row group.
func readPlace(t *thriftReader, kind byte) (c place) {
	t.nest(kind, func(id int16, kind byte) {
		switch id {
		case 7:
			c.size = t.number(kind)
		case 9:
			c.at = t.number(kind)
		case 11:
			c.at = t.number(kind) // the dictionary comes first
		default:
			t.skip(kind)
		}
	})
	return c
}

// A schema is the list of elements that describes the columns.
type schema struct {
	list []element
	bad  bool
}

type element struct {
	name                                        string
	physical, repetition, children, meaning, id int64
}

// element reads an element.
func (s *schema) element(t *thriftReader, kind byte) {
	e := element{physical: -1, meaning: -1}
	t.nest(kind, func(id int16, kind byte) {
		switch id {
		case 1:
			e.physical = t.number(kind)
		case 3:
			e.repetition = t.number(kind)
		case 4:
			e.name = string(t.bytes(kind))
		case 5:
			e.children = t.number(kind)
		case 6:
			e.meaning = t.number(kind)
		case 9:
			e.id = t.number(kind)
		default:
			t.skip(kind)
		}
	})
	s.list = append(s.list, e)
}

// nodes returns the columns, or none if the elements are none of a [Writer].
func (s *schema) nodes() []*Node {
	list := s.take(s.next().children, 0)
	if s.bad || len(s.list) > 0 {
		return nil
	}
	return list
}

func (s *schema) next() (e element) {
	if len(s.list) == 0 {
		s.bad = true
		return e
	}
	e, s.list = s.list[0], s.list[1:]
	return e
}

// take returns the next n nodes with all that is below them.
func (s *schema) take(n int64, depth int) (list []*Node) {
	if depth > maxDepth || n < 0 || n > int64(len(s.list)) {
		s.bad = true
	}
	for ; n > 0 && !s.bad; n-- {
		e := s.next()
		node := &Node{Name: e.name, Required: e.repetition == repRequired, ID: int32(e.id)}
		switch {
		case e.children == 0:
			var ok bool
			node.Type, ok = typeOf(e)
			s.bad = s.bad || !ok
		case e.meaning == convertedList || e.meaning == convertedMap:
			if node.Type = List; e.meaning == convertedMap {
				node.Type = Map
			}
			node.Fields = s.take(s.next().children, depth+1)
			s.bad = s.bad || len(node.Fields) == 0
		default:
			node.Type = Struct
			node.Fields = s.take(e.children, depth+1)
		}
		list = append(list, node)
	}
	return list
}

// typeOf returns the type of a column that is stored in itself.
func typeOf(e element) (Type, bool) {
	for t := Bool; t <= Map; t++ {
		c, ok := t.converted()
		if !ok {
			c = -1
		}
		if !t.isGroup() && int64(t.physical()) == e.physical && int64(c) == e.meaning {
			return t, true
		}
	}
	return 0, false
}

// Merge returns the columns of both lists, or false where they have a column of one name that
// differs, or one that a file has to have and the other has not.
func Merge(a, b []*Node) ([]*Node, bool) {
	both := a[:len(a):len(a)]
	byName := make(map[string]*Node, len(a))
	for _, n := range a {
		byName[n.Name] = n
	}
	for _, n := range b {
		switch same := byName[n.Name]; {
		case same == nil && n.Required:
			return nil, false
		case same == nil:
			both = append(both, n)
		case !same.equal(n):
			return nil, false
		}
		delete(byName, n.Name)
	}
	for _, n := range byName {
		if n.Required {
			return nil, false
		}
	}
	return both, true
}

// equal reports whether both are the same column.
func (n *Node) equal(m *Node) bool {
	if n.Name != m.Name || n.Type != m.Type || n.Required != m.Required || len(n.Fields) != len(m.Fields) {
		return false
	}
	for i := range n.Fields {
		if !n.Fields[i].equal(m.Fields[i]) {
			return false
		}
	}
	return true
}

// leafRanges returns by name which leaves a column is stored in: the first, and how many.
func leafRanges(nodes []*Node) map[string][2]int {
	at, m := 0, make(map[string][2]int, len(nodes))
	for _, n := range nodes {
		m[n.Name] = [2]int{at, n.Leaves()}
		at += n.Leaves()
	}
	return m
}

// sources returns for each leaf of w the number of that of f, or -1 of one that f has not.
func (f *Reader) sources(w *Writer) ([]int, error) {
	own := leafRanges(f.root)
	from := make([]int, 0, len(w.leaves))
	for _, n := range w.root {
		r, ok := own[n.Name]
		if ok && r[1] != n.Leaves() || !ok && n.Required {
			return nil, fmt.Errorf("column %q does not fit", n.Name)
		}
		for i := range n.Leaves() {
			if ok {
				from = append(from, r[0]+i)
			} else {
				from = append(from, -1)
			}
		}
		delete(own, n.Name)
	}
	for name := range own {
		return nil, fmt.Errorf("column %q has no place", name)
	}
	return from, nil
}
