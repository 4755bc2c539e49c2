package counters

import (
	"cmp"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

// A line is what one counter, one time series of a metric or one quantile of it said.
type line struct {
	provider, name, tags, unit, of, about string
	points                                []point
}

// A point is what it said of an interval.
type point struct {
	*line
	atMS  float64
	value measure.Float
}

func (l *line) add(atMS float64, v measure.Float) { l.points = append(l.points, point{l, atMS, v}) }

// lines returns the counters and metrics of a process.
func (p *Process) lines() []*line {
	var list []*line
	for _, c := range p.Counters {
		l := &line{provider: c.Provider, name: c.Name, tags: c.Metadata, unit: cmp.Or(c.Unit, c.KnownUnit), of: "mean", about: c.Description}
		for _, x := range c.Points {
			value := x.Mean
			if !x.PerSec.IsZero() {
				value, l.of = x.PerSec, "per second"
			}
			l.add(x.AtMS, value)
		}
		list = append(list, l)
	}
	for i := range p.Metrics {
		list = append(list, p.Metrics[i].lines()...)
	}
	slices.SortStableFunc(list, func(a, b *line) int { return cmp.Compare(a.provider, b.provider) })
	return list
}

// lines returns the parts of a time series of a metric: histograms have several values.
func (m *Metric) lines() []*line {
	var list []*line
	add := func(of string, atMS float64, v measure.Float) {
		if v.IsZero() {
			return
		}
		i := slices.IndexFunc(list, func(l *line) bool { return l.of == of })
		if i < 0 {
			i = len(list)
			list = append(list, &line{provider: m.Meter, name: m.Instrument, tags: m.Tags, unit: m.Unit, of: of, about: m.Description})
		}
		list[i].add(atMS, v)
	}
	for _, x := range m.Points {
		add("value", x.AtMS, x.Value)
		add("change", x.AtMS, x.Rate)
		add("count", x.AtMS, x.Count)
		add("sum", x.AtMS, x.Sum)
		for _, q := range slices.Sorted(maps.Keys(x.Quantiles)) {
			add("quantile "+q, x.AtMS, x.Quantiles[q])
		}
	}
	return list
}

func pidOf(p Process) int64 { return p.PID }

// Tables returns the tables of a result: counters, and what each said when.
func (r *Result) Tables() []table.View {
	parts := slices.Clone(r.Processes)
	slices.SortStableFunc(parts, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	var all []*line
	of := func(p Process) []*line { return p.lines() }
	for _, p := range parts {
		all = append(all, of(p)...)
	}
	alike := table.Alike(all, func(l *line) string { return l.name }, func(l *line) string { return l.provider })
	points := func(p Process) (list []point) {
		for _, l := range of(p) {
			list = append(list, l.points...)
		}
		return list
	}
	notes := func(p Process) []Note { return p.Notes }
	return []table.View{
		table.Each("counter", "All counters", parts, pidOf, of, append([]table.Column[*line]{
			table.Count("points", func(l *line) int { return len(l.points) }).Spared(4).As("Values"),
			table.Amount("mean", func(l *line) measure.Float { return l.values().Mean }).Precisely(),
			table.Amount("min", func(l *line) measure.Float { return l.values().Min }).Spared(2).As("Smallest").Precisely(),
			table.Amount("max", func(l *line) measure.Float { return l.values().Max }).As("Greatest").Precisely(),
			table.Amount("last", (*line).last).Spared(1).Precisely(),
		}, lineColumns(alike, func(l *line) *line { return l })...)...),
		table.Each("point", "Values", parts, pidOf, points, append([]table.Column[point]{
			table.Moment("atMs", func(x point) float64 { return x.atMS }),
			table.Amount("value", func(x point) measure.Float { return x.value }).Precisely(),
		}, lineColumns(alike, func(x point) *line { return x.line })...)...),
		table.Each("note", "What went wrong", parts, pidOf, notes,
			table.Moment("atMs", func(n Note) float64 { return n.AtMS }),
			table.Text("event", func(n Note) string { return n.Event }),
			table.Text("text", func(n Note) string { return n.Text })).OnPages(),
	}
}

// lineColumns say what a line is. Where providers have counters of one name, nothing else
// tells them apart.
func lineColumns[T any](alike bool, of func(T) *line) []table.Column[T] {
	provider := 3
	if alike {
		provider = 0
	}
	return []table.Column[T]{
		table.Text("of", func(x T) string { return of(x).of }),
		table.Text("unit", func(x T) string { return of(x).unit }),
		table.Text("provider", func(x T) string { return of(x).provider }).Spared(provider).About(),
		table.Text("name", func(x T) string { return of(x).name }).About(),
		table.Text("tags", func(x T) string { return of(x).tags }),
		table.Text("about", func(x T) string { return of(x).about }).Spared(4),
	}
}

// values sums up the values that are known.
func (l *line) values() measure.Summary {
	var list []float64
	for _, x := range l.points {
		if v, ok := x.value.Get(); ok {
			list = append(list, v)
		}
	}
	return measure.Summarize(list)
}

// last returns the last value that is known.
func (l *line) last() measure.Float {
	for _, x := range slices.Backward(l.points) {
		if !x.value.IsZero() {
			return x.value
		}
	}
	return measure.Float{}
}
