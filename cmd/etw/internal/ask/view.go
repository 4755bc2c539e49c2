package ask

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// tableOf returns a view as a table to print, with the names of processes and threads.
func tableOf(v views.View, who *pick.Names) *show.Table {
	t := new(show.Table)
	var shown []int
	for i := range v.Heads {
		if h := &v.Heads[i]; h.Audience != views.Details {
			shown = append(shown, i)
			t.Columns = append(t.Columns, columnOf(&v, i))
		}
	}
	for row := range v.Rows {
		cells := make([]string, len(shown))
		for k, i := range shown {
			cells[k] = who.Cell(v.At(row, i), v.Heads[i].Kind)
		}
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

// A viewed is the answer of an analysis whose result has views.
type viewed[R tabled] struct {
	find  func() R
	any   func(R) bool   // whether there is anything; nil if any row is enough
	facts func(*page, R) // the totals

	stacked func() []*stacks.Samples // the call stacks that the views of code are of
	within  []string                 // the begins of the names of the runtime's own methods, in which these end
	res     R
}

// A tabled is a result that has views.
type tabled interface{ Tables() []views.View }

func (a *viewed[R]) take() bool {
	a.res = a.find()
	if a.any != nil {
		return a.any(a.res)
	}
	return slices.ContainsFunc(a.res.Tables(), func(v views.View) bool { return v.Rows > 0 })
}

func (a *viewed[R]) result() any    { return a.res }
func (a *viewed[R]) totals(p *page) { a.facts(p, a.res) }

func (a *viewed[R]) code() ([]*stacks.Samples, []string) { return a.stacked(), a.within }

func (a *viewed[R]) warnings() []string {
	if w, ok := any(a.res).(interface{ Warnings() []string }); ok {
		return w.Warnings()
	}
	return nil
}

func (a *viewed[R]) table(view string, who *pick.Names) *show.Table { return viewOf(a.res, view, who) }

// viewOf returns the table of a result that has a name.
func viewOf(res tabled, name string, who *pick.Names) *show.Table {
	v, _ := views.Find(res.Tables(), name)
	return tableOf(v, who)
}

// viewsOf returns the names of the tables of a result. Those of code come second.
func viewsOf(res tabled, code ...string) []string {
	var list []string
	for _, v := range res.Tables() {
		if !v.Aside {
			list = append(list, v.Name)
		}
	}
	return slices.Insert(list, 1, code...)
}
