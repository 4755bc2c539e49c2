package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A table aligns columns. Those whose heading starts with > are aligned to the
// right; the last one is not padded.
type table struct {
	right  []bool
	widths []int
	rows   [][]string
}

func newTable(headings ...string) *table {
	t := &table{right: make([]bool, len(headings)), widths: make([]int, len(headings))}
	for i, h := range headings {
		headings[i] = strings.TrimPrefix(h, ">")
		t.right[i] = headings[i] != h
	}
	t.add(headings...)
	return t
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = clean(cells[i])
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cells[i]))
	}
	t.rows = append(t.rows, cells)
}

func (t *table) write(w io.Writer) error {
	var b strings.Builder
	for _, row := range t.rows {
		b.Reset()
		for i, c := range row {
			pad := strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(c))
			switch {
			case t.right[i]:
				b.WriteString(pad + c)
			case i == len(row)-1:
				b.WriteString(c)
			default:
				b.WriteString(c + pad)
			}
			if i < len(row)-1 {
				b.WriteString("  ")
			}
		}
		if _, err := io.WriteString(w, strings.TrimRight(b.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}
