package system

import (
	"cmp"

	"github.com/etwgen/etwgen/internal/order"
)

// A tally has a row for each path and each process that used it. The zero value is empty.
type tally[T any] struct {
	index map[whose]int
	rows  []tallied[T]
}

type whose struct {
	path    string
	process *Process
}

type tallied[T any] struct {
	whose
	row T
}

// of returns the row of a file and a thread, either of which may be nil: not known. It is
// valid until the next call.
func (t *tally[T]) of(m *Machine, file *File, thread *Thread) *T {
	var k whose
	if file != nil {
		k.path = m.Path(file.Path)
	}
	if thread != nil {
		k.process = thread.Process
	}
	i, ok := t.index[k]
	if !ok {
		if t.index == nil {
			t.index = make(map[whose]int)
		}
		i = len(t.rows)
		t.index[k] = i
		t.rows = append(t.rows, tallied[T]{whose: k})
	}
	return &t.rows[i].row
}

// list returns the rows by path and process, after name has written into each whose it is.
func (t *tally[T]) list(name func(row *T, path string, pid ID, process string)) []T {
	order.Stable(t.rows, func(a, b tallied[T]) int {
		pid, _ := a.process.label()
		other, _ := b.process.label()
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(pid, other))
	})
	list := make([]T, len(t.rows))
	for i := range t.rows {
		x := &t.rows[i]
		pid, process := x.process.label()
		name(&x.row, x.path, pid, process)
		list[i] = x.row
	}
	t.index = nil // the places have changed
	return list
}
