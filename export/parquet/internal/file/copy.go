package file

import (
	"errors"
	"fmt"
	"io"
)

// copyRows is how many rows are copied before memory is looked at.
const copyRows = 1024

// A Filter chooses rows by a text that each has.
type Filter struct {
	Column string
	Keep   func(text []byte) bool
}

// Copy adds the rows of f to a writer that has all its columns; the writer's others are null. room is
// called after some rows, and may flush them. The filter may be nil. Copy returns how many rows it has
// added.
func (f *Reader) Copy(w *Writer, d *Decoder, filter *Filter, room func() error) (int64, error) {
	from, err := f.sources(w)
	if err != nil {
		return 0, err
	}
	all := int64(0)
	for i := range f.groups {
		g := groupCopy{f: f, g: &f.groups[i], w: w, from: from, filter: filter, room: room}
		if err := g.open(d); err != nil {
			return all, err
		}
		n, err := g.copy()
		if all += n; err != nil {
			return all, fmt.Errorf("row group %d: %w", i, err)
		}
	}
	return all, nil
}

// A groupCopy copies a row group.
type groupCopy struct {
	f       *Reader
	g       *rowGroup
	w       *Writer
	from    []int // the number of the column of each leaf of w, or -1
	filter  *Filter
	room    func() error
	columns []*cursor
	chooser *cursor // of the filter
}

// open reads the packed pages.
func (g *groupCopy) open(d *Decoder) error {
	for i, leaf := range g.f.leaves {
		at := g.g.chunks[i]
		b := make([]byte, at.size)
		if _, err := g.f.r.ReadAt(b, at.at); err != nil && err != io.EOF {
			return err
		}
		g.columns = append(g.columns, &cursor{d: d, leaf: leaf, rest: b})
		if g.filter != nil && len(leaf.path) == 1 && leaf.path[0] == g.filter.Column && leaf.typ == Text && leaf.maxDef == 0 {
			g.chooser = &cursor{d: d, leaf: leaf, rest: b}
		}
	}
	if g.filter != nil && g.chooser == nil {
		return fmt.Errorf("there is no column %q to choose by", g.filter.Column)
	}
	return nil
}

var errPages = errors.New("pages are damaged")

func (g *groupCopy) copy() (int64, error) {
	all := int64(0)
	for rest := g.g.rows; rest > 0; {
		n := min(rest, copyRows)
		rest -= n
		var take [copyRows]bool
		kept := int64(0)
		for i := range n {
			if take[i] = g.choose(); take[i] {
				kept++
			}
		}
		if g.chooser != nil && g.chooser.bad {
			return all, errPages
		}
		for i, to := range g.w.leaves {
			if g.from[i] < 0 {
				to.RepeatNull(kept)
				continue
			}
			c := g.columns[g.from[i]]
			for k := range n {
				dest := to
				if !take[k] {
					dest = nil
				}
				if !c.row(dest) {
					return all, fmt.Errorf("column %q: %w", c.leaf.path, errPages)
				}
			}
		}
		for range kept {
			g.w.EndRow()
		}
		all += kept
		if err := g.room(); err != nil {
			return all, err
		}
	}
	for _, c := range g.columns {
		if c.left > 0 || len(c.rest) > 0 {
			return all, fmt.Errorf("column %q has more rows than its group: %w", c.leaf.path, errPages)
		}
	}
	return all, nil
}

// choose reports whether the next row is copied.
func (g *groupCopy) choose() bool {
	c := g.chooser
	if c == nil {
		return true
	}
	if !c.next() {
		return c.fail()
	}
	c.left--
	return g.filter.Keep(c.text())
}
