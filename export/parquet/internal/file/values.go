package file

import (
	"fmt"
	"slices"
)

// A Cell is the value of a row in a column.
type Cell struct {
	Text   []byte // until the next row
	Number uint64 // as a [Leaf] takes it
	Null   bool
}

// Values calls do for each row, with its values in columns that have one value or null in each.
func (f *Reader) Values(d *Decoder, names []string, do func(row []Cell) error) error {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.IndexFunc(f.leaves, func(l *Leaf) bool { return len(l.path) == 1 && l.path[0] == name })
		if at[i] < 0 {
			return fmt.Errorf("there is no column %q", name)
		}
	}
	row := make([]Cell, len(names))
	for i := range f.groups {
		g := groupCopy{f: f, g: &f.groups[i]}
		if err := g.open(d); err != nil {
			return err
		}
		for range g.g.rows {
			for k, n := range at {
				if !g.columns[n].cell(&row[k]) {
					return fmt.Errorf("row group %d: column %q: %w", i, names[k], errPages)
				}
			}
			if err := do(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell reads the value of the next row, of a column that is no list.
func (c *cursor) cell(to *Cell) bool {
	if !c.next() {
		return c.fail()
	}
	*to = Cell{Null: c.leaf.maxDef > 0 && uint8(c.defs.next()) < c.leaf.maxDef}
	switch {
	case to.Null:
	case c.leaf.typ.isBytes():
		to.Text = c.text()
	default:
		to.Number = c.number()
	}
	c.left--
	return !c.bad && !c.defs.bad
}
