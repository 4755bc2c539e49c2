package counters

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
)

// A point is the number of a series in an interval.
type point struct {
	*TimeSeries
	TimePoint
}

// series returns the counters and metrics of a process, by provider.
func (p *Process) series() []*TimeSeries {
	all := p.timeSeries()
	list := make([]*TimeSeries, len(all))
	for i := range all {
		list[i] = &all[i]
	}
	order.Stable(list, func(a, b *TimeSeries) int { return cmp.Compare(a.Provider, b.Provider) })
	return list
}

func pidOf(p *Process) int64 { return p.PID }

// Tables returns the tables of a result: counters, and the values of each over time.
func (r *Result) Tables() []table.View {
	parts := table.Refs(r.Processes)
	order.Stable(parts, func(a, b *Process) int { return cmp.Compare(a.PID, b.PID) })
	var all []*TimeSeries
	of := func(p *Process) []*TimeSeries { return p.series() }
	for _, p := range parts {
		all = append(all, of(p)...)
	}
	alike := table.Alike(all, func(l *TimeSeries) string { return l.Name }, func(l *TimeSeries) string { return l.Provider })
	points := func(p *Process) (list []*point) {
		for _, s := range of(p) {
			for _, x := range s.Points {
				list = append(list, &point{s, x})
			}
		}
		return list
	}
	notes := func(p *Process) []*Note { return table.Refs(p.Notes) }
	return []table.View{
		table.Each("counter", "All counters", parts, pidOf, of, append([]table.Column[*TimeSeries]{
			table.Count("points", func(l *TimeSeries) int { return len(l.Points) }).Spared(4).As("Values"),
			table.Amount("mean", func(l *TimeSeries) measure.Float { return l.Summary().Mean }).Precisely(),
			table.Amount("min", func(l *TimeSeries) measure.Float { return l.Summary().Min }).Spared(2).As("Smallest").Precisely(),
			table.Amount("max", func(l *TimeSeries) measure.Float { return l.Summary().Max }).As("Greatest").Precisely(),
			table.Amount("last", (*TimeSeries).last).Spared(1).Precisely(),
		}, seriesColumns(alike, func(l *TimeSeries) *TimeSeries { return l })...)...),
		table.Each("point", "Values", parts, pidOf, points, append([]table.Column[*point]{
			table.Moment("atMs", func(x *point) float64 { return x.AtMS }),
			table.Amount("value", func(x *point) measure.Float { return x.Value }).Precisely(),
		}, seriesColumns(alike, func(x *point) *TimeSeries { return x.TimeSeries })...)...),
		table.Each("note", "What went wrong", parts, pidOf, notes,
			table.Moment("atMs", func(n *Note) float64 { return n.AtMS }),
			table.Text("event", func(n *Note) string { return n.Event }),
			table.Text("text", func(n *Note) string { return n.Text })).OnPages(),
	}
}

// seriesColumns say which series it is. Where providers have counters of one name, nothing else
// tells them apart.
func seriesColumns[T any](alike bool, of func(T) *TimeSeries) []table.Column[T] {
	provider := 3
	if alike {
		provider = 0
	}
	return []table.Column[T]{
		table.Text("of", func(x T) string { return of(x).Of }),
		table.Text("unit", func(x T) string { return of(x).Unit }),
		table.Text("provider", func(x T) string { return of(x).Provider }).Spared(provider).About(),
		table.Text("name", func(x T) string { return of(x).Name }).About(),
		table.Text("tags", func(x T) string { return of(x).Tags }),
		table.Text("about", func(x T) string { return of(x).Description }).Spared(4),
	}
}

// last returns the last value that is known.
func (l *TimeSeries) last() measure.Float {
	for _, x := range slices.Backward(l.Points) {
		if !x.Value.IsZero() {
			return x.Value
		}
	}
	return measure.Float{}
}
