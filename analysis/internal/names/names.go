// Package names counts by the names in payloads without making a string of each.
package names

import "github.com/etwgen/etwgen/runtime/etw"

// A Table has a value for each name. The zero Table is ready for use.
type Table[T any] struct {
	byName map[string]*Entry[T]
	all    []*Entry[T]
	last   *Entry[T] // that was asked for: the same names come in a row
}

// An Entry is the value of one name.
type Entry[T any] struct {
	Name  string
	Value T
	key   string // the name as it is in payloads
}

// At returns the entry of a name. Only the first use of the name allocates.
func (t *Table[T]) At(name etw.UTF16) *Entry[T] {
	if e := t.Find(name); e != nil {
		return e
	}
	if t.byName == nil {
		t.byName = make(map[string]*Entry[T])
	}
	e := &Entry[T]{Name: name.String(), key: string(name)}
	t.byName[e.key] = e
	t.all = append(t.all, e)
	t.last = e
	return e
}

// Find returns the entry of a name, or nil if there is none.
func (t *Table[T]) Find(name etw.UTF16) *Entry[T] {
	if t.last != nil && t.last.key == string(name) {
		return t.last
	}
	e := t.byName[string(name)]
	if e != nil {
		t.last = e
	}
	return e
}

// All returns the entries in the order of their first use.
func (t *Table[T]) All() []*Entry[T] { return t.all }
