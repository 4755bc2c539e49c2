// Package names counts by the names in payloads without making a string of each.
package names

import "github.com/etwgen/etwgen/runtime/etw"

// A Table has a value for each name. The zero Table is ready for use.
type Table[T any] struct {
	byName map[string]*Entry[T]
	all    []*Entry[T]
}

// An Entry is the value of one name.
type Entry[T any] struct {
	Name  string
	Value T
}

// At returns the entry of a name. Only the first use of the name allocates.
func (t *Table[T]) At(name etw.UTF16) *Entry[T] {
	if e, ok := t.byName[string(name)]; ok {
		return e
	}
	if t.byName == nil {
		t.byName = make(map[string]*Entry[T])
	}
	e := &Entry[T]{Name: name.String()}
	t.byName[string(name)] = e
	t.all = append(t.all, e)
	return e
}

// All returns the entries in the order of their first use.
func (t *Table[T]) All() []*Entry[T] { return t.all }

// Has reports whether a name has an entry.
func (t *Table[T]) Has(name etw.UTF16) bool {
	_, ok := t.byName[string(name)]
	return ok
}
