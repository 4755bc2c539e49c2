package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
)

// A Ranking holds the flags that sort the rows of a table and choose the first
// ones. All commands that print tables of results have them.
type Ranking struct {
	sort    string
	reverse bool
	only    []string // conditions on columns
	wheres  []*filter.Where
	Top     int
	cmd     *cobra.Command
}

// Flags defines the flags. columns are the names of those that completion knows.
func (r *Ranking) Flags(cmd *cobra.Command, columns ...string) {
	r.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&r.sort, "sort", "", "sort by this `COLUMN`: numbers from the largest, texts and times from the\nfirst")
	f.StringArrayVar(&r.only, "rows", nil, "only rows with a column such that this `CONDITION` holds, such as\n\"durationMs >= 500\" or \"name ~ orders\": see --where; repeatable")
	f.BoolVarP(&r.reverse, "reverse", "r", false, "reverse the order")
	f.IntVarP(&r.Top, "top", "n", 0, "print only the first `N` rows")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"sort": cobra.FixedCompletions(columns, cobra.ShellCompDirectiveNoFileComp),
		"top":  cobra.NoFileCompletions,
		"rows": cobra.NoFileCompletions,
	})
}

// Check reports values of flags that make no sense.
func (r *Ranking) Check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("top") && r.Top <= 0 {
		return cli.Usagef("--top: %d is not a number of rows to print, from 1 on", r.Top)
	}
	r.wheres = nil
	for _, text := range r.only {
		w, err := filter.ParseWhere(text)
		if err != nil {
			return cli.Usagef("--rows: %w", err)
		}
		r.wheres = append(r.wheres, w)
	}
	return nil
}

// CheckColumn reports a column that there is not.
func (r *Ranking) CheckColumn(columns []Column) error {
	for _, w := range r.wheres {
		if err := checkColumn(columns, "rows", columnOf(w)); err != nil {
			return err
		}
		if c := columns[findColumn(columns, columnOf(w))]; c.Number && !w.ComparesNumbers() {
			return cli.Usagef("--rows %s: the values of %s are numbers; a second condition is a second --rows", w, c.Name)
		}
	}
	return checkColumn(columns, "sort", r.sort)
}

// columnOf returns the name of the column that a condition is on.
func columnOf(w *filter.Where) string { return strings.Join(w.Path(), ".") }

func checkColumn(columns []Column, flag, name string) error {
	if name == "" || findColumn(columns, name) >= 0 {
		return nil
	}
	var names []string
	for _, c := range columns {
		if c.Name != "" && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return cli.Usagef("--%s %s: there is no such column%s; there are %s", flag, name, cli.DidYouMean(name, names), strings.Join(names, ", "))
}

// findColumn returns the column of a name, which may be a begin of it, or -1.
func findColumn(columns []Column, name string) int {
	if i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return i
	}
	name = strings.ToLower(name)
	if i := slices.IndexFunc(columns, func(c Column) bool { return strings.ToLower(c.Name) == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(columns, func(c Column) bool { return strings.HasPrefix(strings.ToLower(c.Name), name) })
}

// narrow leaves the rows of which all conditions hold. What is not known meets none.
func (r *Ranking) narrow(t *Table) {
	for _, w := range r.wheres {
		at := findColumn(t.Columns, columnOf(w))
		t.Rows = order.Delete(t.Rows, func(row []string) bool {
			cell := row[at]
			if t.Columns[at].Number {
				cell, _, _ = strings.Cut(cell, " ") // behind which its unit may stand
				cell = strings.TrimSuffix(cell, "%")
			}
			return cell == "" || !w.MatchText(cell)
		})
	}
}

// Apply sorts the rows of a table, by count if no column is named and they are
// not ordered already, and cuts them off.
func (r *Ranking) Apply(t *Table, ordered bool) {
	r.narrow(t)
	name := r.sort
	if name == "" && !ordered {
		name = "count"
	}
	if i := findColumn(t.Columns, name); i >= 0 && name != "" {
		if r.sort != "" {
			t.Columns[i].Spare = 0 // it was asked for
		}
		falling := t.Columns[i].Number && !t.Columns[i].Rising && !slices.Contains([]string{"id", "from", "ms"}, t.Columns[i].Name)
		order.Stable(t.Rows, func(a, b []string) int {
			order := compareCell(a[i], b[i], t.Columns[i].Number)
			if t.Columns[i].Number {
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
		slices.Reverse(t.Rows)
	}
	if r.Top > 0 && len(t.Rows) > r.Top {
		if r.cmd != nil && cli.ForAssistant(r.cmd) { // nobody said how many there are to be
			cli.Report(r.cmd, fmt.Errorf("the answer has the first %d of %d rows: ask for less (from, to, process)", r.Top, len(t.Rows)))
		}
		t.Rows = t.Rows[:r.Top]
	}
}

// Chooses reports whether some rows were asked for, or an order of them.
func (r *Ranking) Chooses() bool { return r.Top > 0 || r.reverse || r.sort != "" || len(r.wheres) > 0 }

// Chosen returns where the rows that were asked for were in the table.
func (r *Ranking) Chosen(t *Table) []int {
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], strconv.Itoa(i))
	}
	r.Apply(t, true)
	list := make([]int, len(t.Rows))
	for i, row := range t.Rows {
		list[i], _ = strconv.Atoi(row[len(row)-1])
	}
	return list
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

// WriteFirst prints the rows that were asked for. Of a table for people that is
// longer than they asked for, a line says how much longer.
func (r *Ranking) WriteFirst(p *Printer, t *Table) error {
	r.narrow(t)
	all, rank := len(t.Rows), *r
	forPeople := p.Format == FormatText || p.Format == FormatMD
	if rank.Top == 0 && forPeople {
		rank.Top = RowsForPeople
	}
	rank.Apply(t, true)
	shown := len(t.Rows)
	if p.Format == FormatText {
		if all == 0 {
			if len(r.wheres) > 0 {
				of := ""
				if t.Chosen != "" {
					of = " of the " + t.Chosen + ", which are all that an answer has,"
				}
				p.Note("no row" + of + " meets --rows")
			}
			return nil
		}
		fmt.Fprintln(p)
	}
	if err := t.Write(p); err != nil {
		return err
	}
	if text := t.extent(shown, all); text != "" && p.Format == FormatText {
		_, err := fmt.Fprintln(p, string(p.Paint(nil, ColorDim, text)))
		return err
	}
	return nil
}

// RowsForPeople is how many rows of a table people get to see if they do not say.
const RowsForPeople = 20
