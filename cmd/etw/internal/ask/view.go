package ask

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/stacks"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A viewed is the answer of an analysis whose result has views.
type viewed[R tabled] struct {
	find  func() R
	any   func(R) bool   // whether there is anything; nil if any row is enough
	facts func(*page, R) // the totals
	wrong func(R) error  // that the trace has not what flags name; nil for none

	stacked func() []*stacks.Samples // the call stacks that the views of code are of
	unended func() []*stacks.Samples // what was not over has these, so that it has names; nil for none
	within  []string                 // the begins of the names of the runtime's own methods, in which these end
	caused  func([]filter.Glob)      // chooses the activities of --activity, among records of all; nil for none
	skipped func(*etw.Record) error  // takes records that were not asked for; nil for none
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

// choosing returns the function that chooses the activities of --activity, or nil.
func (a *viewed[R]) choosing() func([]filter.Glob) { return a.caused }

func (a *viewed[R]) mistake() error {
	if a.wrong == nil {
		return nil
	}
	return a.wrong(a.res)
}

func (a *viewed[R]) result() any    { return a.res }
func (a *viewed[R]) totals(p *page) { a.facts(p, a.res) }

func (a *viewed[R]) rest() func(*etw.Record) error { return a.skipped }

func (a *viewed[R]) code() ([]*stacks.Samples, []string) { return a.stacked(), a.within }

// open returns the samples of the rows that were not over.
func (a *viewed[R]) open() []*stacks.Samples {
	if a.unended == nil {
		return nil
	}
	return a.unended()
}

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
	return pick.Table(v, who)
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
