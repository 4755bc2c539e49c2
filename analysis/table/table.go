// Package table has the tables of results. A column is declared once, beside the result: its
// name, unit and precision, whom it is for, and its value as a function of a row. Terminals,
// CSV, Markdown, JSON, pages and Parquet files are loops over the columns of a [View]. Use it to read the tables of a result, by its
// method Tables, and to make those of an analysis of your own, by [Of] and [Each].
//
// Columns are called as in the JSON form of the result, and end in units as names do there:
// pauseMs, promotedMB, sharePercent.
package table

import (
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A View is one table of a result. Its rows are in the order in which they matter.
type View struct {
	Name  string // of a row: "collection"
	Title string
	Lead  string // what a page says of the rows
	Heads []Head
	Rows  int
	// Order is the column that the rows are ordered by, the largest first, if there is one.
	Order string
	// Listed says which rows these are, if there can be more than are listed.
	Listed Listed
	// Aside says that pages alone have the view.
	Aside bool

	cells  []func(row int) Value
	owners []int64 // processes of rows
	order  []int   // of rows, if they were sorted
}

// A Head describes a column.
type Head struct {
	Name    string // in every format
	Heading string // in text; the words of Name if it is empty
	Label   string // on a page, without the unit
	Help    string
	Unit    string
	Digits  int // behind the point, for people
	Kind    Kind
	Audience
	ID     bool // of numbers that are names
	Moment bool // of points in time, in milliseconds since the session began
	Spare  int  // left out where a terminal is too narrow, those with more of it first
	// Filled columns are shown to people only if any row has something.
	Filled bool
	// Subject says that the column is the subject of the rows: a page begins with it, lines
	// of text, where it may be long, end with it.
	Subject bool
	// Precise says that the numbers are of all sizes, and some digits count of each.
	Precise bool
	// Owner says that the column tells the process that a row is of.
	Owner bool
}

// An Audience is whom a column is for.
type Audience uint8

// The audiences. A page has the columns for programs as details of a row.
const (
	Everyone Audience = iota
	People            // text, Markdown and pages
	Programs          // CSV, JSON and Parquet
	Details           // pages, where a row is opened, and Parquet
)

// Rising reports whether the column is sorted from its smallest value.
func (h *Head) Rising() bool { return h.ID || h.Moment }

// Number reports whether the values are numbers.
func (h *Head) Number() bool { return h.Kind == Whole || h.Kind == Real }

// A Listed says which rows a table has of all.
type Listed struct {
	Which string // "longest"
	What  string // "waits"
	All   int
}

// Refs returns pointers to rows. Views of pointers take no code of their own: this package
// is compiled once for all pointers, and again for each other type of rows, which took
// three quarters of a megabyte.
func Refs[T any](rows []T) []*T {
	refs := make([]*T, len(rows))
	for i := range rows {
		refs[i] = &rows[i]
	}
	return refs
}

// Of returns a view of rows, which [Refs] makes of values.
func Of[T any](name, title string, rows []T, columns ...Column[T]) View {
	v := begun(name, title, len(rows))
	fill(v, rows, columns)
	return *v
}

// Each returns a view of the rows of all parts of a result, such as its runtimes, with
// the process of each part before them. People see that where there are several parts.
func Each[P, T any](name, title string, parts []P, pid func(P) int64, rows func(P) []T, columns ...Column[T]) View {
	var all []T
	v := begun(name, title, 0)
	for _, p := range parts {
		all = append(all, rows(p)...)
		v.owned(pid(p), len(all))
	}
	fill(v, all, columns)
	return v.own(len(parts) > 1)
}

// Parts returns a view that has a row for each part of a result.
func Parts[P any](name, title string, parts []P, pid func(P) int64, columns ...Column[P]) View {
	v := begun(name, title, 0)
	for i, p := range parts {
		v.owned(pid(p), i+1)
	}
	fill(v, parts, columns)
	return v.own(true)
}

// fill adds columns. It is all that has to know the type of the rows, and is compiled for
// each; the rest is not inlined, which took a quarter of a megabyte.
func fill[T any](v *View, rows []T, columns []Column[T]) {
	for _, c := range columns {
		v.add(c.head, func(row int) Value { return c.value(rows[row]) })
	}
}

//go:noinline
func begun(name, title string, rows int) *View {
	return &View{Name: name, Title: title, Rows: rows}
}

//go:noinline
func (v *View) add(h *Head, cell func(int) Value) {
	v.Heads, v.cells = append(v.Heads, *h), append(v.cells, cell)
}

// owned says that rows, until there are n, are those of a process.
//
//go:noinline
func (v *View) owned(pid int64, n int) {
	v.owners, v.Rows = append(v.owners, slices.Repeat([]int64{pid}, n-v.Rows)...), n
}

// own puts columns of the processes of rows, several or one, before the others.
//
//go:noinline
func (v *View) own(several bool) View {
	pids := v.owners
	heads := []Head{{Name: "pid", Label: "Process", Kind: Whole, ID: true, Owner: true}, {Name: "process", Label: "Process", Kind: Process, Owner: true}}
	v.Heads = append(heads, v.Heads...)
	v.cells = append([]func(int) Value{
		func(row int) Value { return number(pids[row]) },
		func(row int) Value { return named(Process, pids[row], "") },
	}, v.cells...)
	return v.Several(several)
}

// Named has the processes of rows have names of their own, but for those of which own returns none.
func (v View) Named(own func(row int) string) View {
	v.cells = slices.Clone(v.cells)
	v.cells[1] = func(row int) Value { return named(Process, v.owners[row], own(row)) }
	return v
}

// Several says whether the rows are of several processes, so that people have to see which.
func (v View) Several(several bool) View {
	v.Heads = slices.Clone(v.Heads)
	for i := range v.Heads {
		if h := &v.Heads[i]; h.Owner {
			h.Audience = Programs
			if several {
				h.Audience = Everyone
			}
		}
	}
	return v
}

// At returns the value of a column in a row.
func (v *View) At(row, column int) Value {
	if v.order != nil {
		row = v.order[row]
	}
	return v.cells[column](row)
}

// Doubled reports whether people have another column in place of one.
func (v *View) Doubled(column int) bool {
	h := &v.Heads[column]
	return h.Audience == Programs && slices.ContainsFunc(v.Heads, func(x Head) bool { return x.Name == h.Name && x.Audience == People })
}

// Column returns the number of the column of a name, or -1.
func (v *View) Column(name string) int {
	return slices.IndexFunc(v.Heads, func(h Head) bool { return h.Name == name })
}

// Saying has pages say something of the rows.
func (v View) Saying(lead string) View { v.Lead = lead; return v }

// OnPages leaves the view to pages.
func (v View) OnPages() View { v.Aside = true; return v }

// Ordered says by which column the rows are ordered, the largest first, process by process.
func (v View) Ordered(name string) View { v.Order = name; return v }

// Sorted orders the rows by a column, the largest first.
func (v View) Sorted(name string) View {
	v.sort(name, func(a, b float64) bool { return a > b })
	return v.Ordered(name)
}

// Rising orders the rows by a column, the smallest first.
func (v View) Rising(name string) View {
	v.sort(name, func(a, b float64) bool { return a < b })
	v.Order = ""
	return v
}

// sort orders the rows; those of which nothing is known come last.
func (v *View) sort(name string, before func(a, b float64) bool) {
	type key struct {
		row   int
		value float64
		known bool
	}
	keys := make([]key, v.Rows)
	column := v.Column(name)
	for row := range keys {
		k := &keys[row]
		k.row = row
		k.value, k.known = v.cells[column](row).Float()
	}
	order.Stable(keys, func(a, b key) int {
		switch {
		case a.known != b.known:
			if a.known {
				return -1
			}
			return 1
		case before(a.value, b.value):
			return -1
		case before(b.value, a.value):
			return 1
		}
		return 0
	})
	v.order = make([]int, v.Rows)
	for i, k := range keys {
		v.order[i] = k.row
	}
}

// Of says which rows these are of how many, such as the longest of all waits.
func (v View) Of(which, what string, all int) View {
	v.Listed = Listed{which, what, all}
	return v
}

// Empty reports whether no row has anything in a column. A sum of 0 tells nothing; a point
// in time and an exit code of 0 do.
func (v *View) Empty(column int) bool {
	h := &v.Heads[column]
	for row := range v.Rows {
		x := v.At(row, column)
		if f, number := x.Float(); x.Known() && (!number || f != 0 || h.Rising()) {
			return false
		}
	}
	return true
}

// Alike reports whether different owners have something of the same name.
func Alike[T any](rows []T, name, owner func(T) string) bool {
	first := make(map[string]string)
	for _, x := range rows {
		if known, ok := first[name(x)]; ok && known != owner(x) {
			return true
		}
		first[name(x)] = owner(x)
	}
	return false
}

// Find returns the view of a name.
func Find(views []View, name string) (View, bool) {
	i := slices.IndexFunc(views, func(v View) bool { return v.Name == name })
	if i < 0 {
		return View{}, false
	}
	return views[i], true
}
