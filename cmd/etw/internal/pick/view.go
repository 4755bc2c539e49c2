package pick

import (
	"cmp"
	"slices"

	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
)

// Rows returns a table of rows to print. Its columns have no names of processes and threads
// but those that the rows themselves have.
func Rows[T any](rows []T, columns ...views.Column[T]) *show.Table {
	return Table(views.Of("", "", rows, columns...), nil)
}

// Table returns a view as a table to print, with the names of processes and threads.
func Table(v views.View, who *Names) *show.Table {
	t := new(show.Table)
	var shown []int
	for i := range v.Heads {
		if h := &v.Heads[i]; h.Audience != views.Details {
			shown = append(shown, i)
			t.Columns = append(t.Columns, columnOf(&v, i))
		}
	}
	for row := range v.Rows {
		cells := each.Of(shown, func(i int) string { return who.Cell(v.At(row, i), v.Heads[i].Kind) })
		t.Add(cells...)
	}
	unlessEmpty(t, &v, shown)
	if l := v.Listed; l.All > v.Rows {
		several := slices.ContainsFunc(v.Heads, func(h views.Head) bool { return h.Owner && h.Audience == views.Everyone })
		t.Choose(l.Which, v.Rows, l.All, l.What, several)
	}
	return t
}

// columnOf returns a column of a view as it is printed.
func columnOf(v *views.View, i int) show.Column {
	h := &v.Heads[i]
	c := show.Column{Name: h.Name, Head: cmp.Or(h.Heading, show.Heading(h.Name)), Number: h.Number(), Rising: h.Rising(), Spare: h.Spare, Digits: h.Digits}
	c.Measured = c.Number && !h.ID
	c.Text = h.Audience == views.People
	c.Data = h.Audience == views.Programs
	return c
}

// unlessEmpty leaves columns to programs that are for people only if any row has something.
// As a sum, 0 tells nothing; as a point in time or an exit code it does.
func unlessEmpty(t *show.Table, v *views.View, shown []int) {
	for k, i := range shown {
		c := &t.Columns[k]
		told := func(row []string) bool { return row[k] != "" && (row[k] != "0" || !c.Measured || c.Rising) }
		c.Data = c.Data || v.Heads[i].Filled && !slices.ContainsFunc(t.Rows, told)
	}
}
