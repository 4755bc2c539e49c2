package timeline

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

// Tables returns the tables of a result: the buckets of all lanes.
func (r *Result) Tables() []table.View {
	type bucket struct {
		*Lane
		i int
	}
	of := func(l *Lane) []*bucket {
		list := make([]bucket, len(l.Values))
		for i := range list {
			list[i] = bucket{l, i}
		}
		return table.Refs(list)
	}
	var names []string // of the processes of rows
	for _, l := range r.Lanes {
		names = append(names, slices.Repeat([]string{l.owner}, len(l.Values))...)
	}
	return []table.View{table.Each("bucket", "Buckets", r.Lanes, func(l *Lane) int64 { return l.PID }, of,
		table.ID("tid", func(b *bucket) int64 { return b.TID }).Positive(),
		table.Text("kind", func(b *bucket) string { return string(b.Kind) }),
		table.Text("of", func(b *bucket) string { return b.Of }),
		table.Text("unit", func(b *bucket) string { return b.Unit }),
		table.Text("how", func(b *bucket) string { return string(b.How) }),
		table.Moment("startMs", func(b *bucket) float64 { return r.Begin(b.i) }),
		table.Moment("endMs", func(b *bucket) float64 { return r.Begin(b.i + 1) }),
		table.Amount("value", func(b *bucket) measure.Float { return b.Values[b.i] })).Several(true).Named(func(row int) string { return names[row] })}
}
