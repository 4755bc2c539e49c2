// Package top keeps the largest of many values.
package top

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A List keeps the values with the largest keys; of those with equal keys the ones
// that came first. The zero List keeps 100.
type List[T any] struct {
	N    int
	rows []entry[T]
	seq  int
	// Once there were more than are kept, the least key of those.
	full  bool
	least float64
}

type entry[T any] struct {
	key   float64
	seq   int
	value T
}

func (l *List[T]) limit() int {
	return cmp.Or(l.N, 100)
}

// Wants reports whether a value with a key would be kept now, so that others need
// not be made.
func (l *List[T]) Wants(key float64) bool { return !l.full || key > l.least }

// Add offers a value.
func (l *List[T]) Add(key float64, v T) {
	l.seq++
	if !l.Wants(key) {
		return
	}
	l.rows = append(l.rows, entry[T]{key, l.seq, v})
	if n := l.limit(); len(l.rows) >= 2*n {
		sortRows(l.rows)
		clear(l.rows[n:])
		l.rows = l.rows[:n]
		l.full, l.least = true, l.rows[n-1].key
	}
}

func sortRows[T any](rows []entry[T]) {
	order.Sort(rows, func(a, b entry[T]) int {
		return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.seq, b.seq))
	})
}

// All returns the kept values, the largest first.
func (l *List[T]) All() []T {
	rows := slices.Clone(l.rows)
	sortRows(rows)
	var all []T
	for _, r := range rows[:min(len(rows), l.limit())] {
		all = append(all, r.value)
	}
	return all
}
