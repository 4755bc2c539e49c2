package ecma335

import (
	"iter"
	"sort"

	sorting "github.com/etwgen/etwgen/internal/order"
)

// List returns the rows of another table that a row owns by a column such as
// TypeDef.MethodList: from the one that it names to the one that the next row names.
func (m *Metadata) List(t Table, row uint32, column int) iter.Seq[uint32] {
	target := Table(schema[t][column] - index)
	through := pointers[target]
	count := m.tables[target].rows
	if m.tables[through].rows > 0 && through != Module {
		count = m.tables[through].rows
	}
	from, to := m.Cell(t, row, column), count+1
	if row < m.tables[t].rows {
		to = min(to, m.Cell(t, row+1, column))
	}
	return func(yield func(uint32) bool) {
		if row == 0 || row > m.tables[t].rows || from == 0 {
			return
		}
		for i := from; i < to; i++ {
			target := i
			if through != Module && m.tables[through].rows > 0 {
				target = m.Cell(through, i, 0)
			}
			if !yield(target) {
				return
			}
		}
	}
}

// pointers has the tables through which lists lead where a file was edited.
var pointers = [tableCount]Table{Field: FieldPtr, MethodDef: MethodPtr, Param: ParamPtr, Event: EventPtr, Property: PropertyPtr}

// Owner returns the row whose list by a column has a row of another table, such as
// the TypeDef of a MethodDef. It is 0 if there is none. Lists are taken to be in order,
// as they must be.
func (m *Metadata) Owner(t Table, column int, member uint32) uint32 {
	n := m.tables[t].rows
	after := sort.Search(int(n), func(i int) bool { return m.Cell(t, uint32(i)+1, column) > member })
	// Rows before this one may have empty lists, which begin at the same place.
	return uint32(after)
}

// Find returns the rows of a table that have v in a column, in the order of rows.
func (m *Metadata) Find(t Table, column int, v uint32) iter.Seq[uint32] {
	rows := m.sorted(t, column)
	at := func(i int) uint32 {
		if rows == nil {
			return uint32(i) + 1
		}
		return rows[i]
	}
	n := int(m.tables[t].rows)
	first := sort.Search(n, func(i int) bool { return m.Cell(t, at(i), column) >= v })
	return func(yield func(uint32) bool) {
		for i := first; i < n && m.Cell(t, at(i), column) == v; i++ {
			if !yield(at(i)) {
				return
			}
		}
	}
}

// Refer returns the rows of a table that refer to a row by a column.
func (m *Metadata) Refer(t Table, column int, to Token) iter.Seq[uint32] {
	v, ok := to.Row(), true
	if c := schema[t][column]; c >= coded {
		v, ok = tag(c, to)
	}
	if !ok || v == 0 {
		return func(func(uint32) bool) {}
	}
	return m.Find(t, column, v)
}

// sorted returns the rows of a table by a column, or nil if they are in that order.
// Most tables that are searched must be, but nothing can rely on it.
func (m *Metadata) sorted(t Table, column int) []uint32 {
	tab := &m.tables[t]
	o := &tab.orders[column]
	o.once.Do(func() {
		inOrder := true
		for row := uint32(2); row <= tab.rows && inOrder; row++ {
			inOrder = m.Cell(t, row-1, column) <= m.Cell(t, row, column)
		}
		if inOrder {
			return
		}
		o.rows = make([]uint32, tab.rows)
		for i := range o.rows {
			o.rows[i] = uint32(i) + 1
		}
		sorting.ByKey(o.rows, func(row *uint32) uint64 { return uint64(m.Cell(t, *row, column)) })
	})
	return o.rows
}
