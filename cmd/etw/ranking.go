package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// A ranking holds the flags that sort the rows of a table and choose the first
// ones. All commands that print tables of results have them.
type ranking struct {
	sort    string
	reverse bool
	top     int
	cmd     *cobra.Command
}

// flags defines the flags. columns are the names of those that completion knows.
func (r *ranking) flags(cmd *cobra.Command, columns ...string) {
	r.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&r.sort, "sort", "", "sort by this `COLUMN`: numbers from the largest, texts and times from the\nfirst")
	f.BoolVarP(&r.reverse, "reverse", "r", false, "reverse the order")
	f.IntVarP(&r.top, "top", "n", 0, "print only the first `N` rows")
	completions(cmd, map[string]cobra.CompletionFunc{
		"sort": cobra.FixedCompletions(columns, cobra.ShellCompDirectiveNoFileComp),
		"top":  cobra.NoFileCompletions,
	})
}

// check reports values of flags that make no sense.
func (r *ranking) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("top") && r.top <= 0 {
		return usagef("--top: %d is not a number of rows to print, from 1 on", r.top)
	}
	return nil
}

// checkColumn reports a column that there is not.
func (r *ranking) checkColumn(columns []column) error {
	if r.sort == "" || findColumn(columns, r.sort) >= 0 {
		return nil
	}
	var names []string
	for _, c := range columns {
		if c.name != "" && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return usagef("--sort %s: there is no such column%s; there are %s", r.sort, didYouMean(r.sort, names), strings.Join(names, ", "))
}

// findColumn returns the column of a name, which may be a begin of it, or -1.
func findColumn(columns []column, name string) int {
	if i := slices.IndexFunc(columns, func(c column) bool { return c.name == name }); i >= 0 {
		return i
	}
	name = strings.ToLower(name)
	if i := slices.IndexFunc(columns, func(c column) bool { return strings.ToLower(c.name) == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(columns, func(c column) bool { return strings.HasPrefix(strings.ToLower(c.name), name) })
}

// apply sorts the rows of a table, by count if no column is named and they are
// not ordered already, and cuts them off.
func (r *ranking) apply(t *table, ordered bool) {
	name := r.sort
	if name == "" && !ordered {
		name = "count"
	}
	if i := findColumn(t.columns, name); i >= 0 && name != "" {
		if r.sort != "" {
			t.columns[i].spare = 0 // it was asked for
		}
		falling := t.columns[i].number && !t.columns[i].rising && !slices.Contains([]string{"id", "from", "ms"}, t.columns[i].name)
		slices.SortStableFunc(t.rows, func(a, b []string) int {
			order := compareCell(a[i], b[i], t.columns[i].number)
			if t.columns[i].number {
				_, known := numberIn(a[i])
				if _, other := numberIn(b[i]); known && !other { // what is not known comes last
					return -1
				} else if other && !known {
					return 1
				}
			}
			if falling {
				return -order
			}
			return order
		})
	}
	if r.reverse {
		slices.Reverse(t.rows)
	}
	if r.top > 0 && len(t.rows) > r.top {
		if r.cmd != nil && isServed(r.cmd) { // nobody said how many there are to be
			report(r.cmd, fmt.Errorf("the answer has the first %d of %d rows: ask for less (from, to, process)", r.top, len(t.rows)))
		}
		t.rows = t.rows[:r.top]
	}
}

// numberIn returns the number that a cell begins with, behind which its unit may stand.
func numberIn(cell string) (float64, bool) {
	text, _, _ := strings.Cut(cell, " ")
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return f, err == nil
}

// compareCell compares two cells, of which numbers may be missing.
func compareCell(a, b string, number bool) int {
	if !number {
		return cmp.Compare(a, b)
	}
	x, okX := numberIn(a)
	y, okY := numberIn(b)
	if !okX || !okY {
		return cmp.Compare(len(a), len(b))
	}
	return cmp.Compare(x, y)
}
