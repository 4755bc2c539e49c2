package waits

import (
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: waits, and sums of them.
func (r *Result) Tables() []table.View {
	open := 0
	for _, rt := range r.Runtimes {
		open += rt.Open
	}
	longest := func(rt *Runtime) []*Wait { return append(table.Refs(rt.Longest), table.Refs(rt.Unended)...) }
	sources := func(rt *Runtime) []*Source { return table.Refs(rt.Sources) }
	threads := func(rt *Runtime) []*Thread { return table.Refs(rt.Threads) }
	return []table.View{
		table.Each("wait", "Longest waits", r.Runtimes, (*Runtime).pid, longest,
			table.Moment("startMs", func(w *Wait) float64 { return w.StartMS }),
			table.Amount("durationMs", func(w *Wait) float64 { return w.DurationMS }),
			table.ID("tid", func(w *Wait) int64 { return w.Thread }),
			table.ThreadName("name", func(w *Wait) int64 { return w.Thread }).IfAny(),
			table.Text("source", func(w *Wait) string { return w.Source }),
			table.Text("method", func(w *Wait) string { return w.Method }).IfAny(),
			table.Text("state", func(w *Wait) string { return spans.State(w.Open) }).IfAny()).Sorted("durationMs").Of("longest", "waits", r.Count+open),
		table.Each("source", "By source", r.Runtimes, (*Runtime).pid, sources,
			table.Count("count", func(x *Source) int { return x.Count }).As("Waits"),
			table.Amount("totalMs", func(x *Source) float64 { return x.TotalMS }),
			table.Text("source", func(x *Source) string { return x.Source }).About()).Ordered("totalMs"),
		table.Each("thread", "Threads that waited", r.Runtimes, (*Runtime).pid, threads,
			table.Count("count", func(x *Thread) int { return x.Count }).As("Waits"),
			table.Amount("totalMs", func(x *Thread) float64 { return x.TotalMS }),
			table.Amount("maxMs", func(x *Thread) float64 { return x.MaxMS }).As("Longest"),
			table.ID("tid", func(x *Thread) int64 { return x.Thread }).About(),
			table.Text("kind", func(x *Thread) string {
				if x.Pool {
					return "worker of the pool"
				}
				return ""
			}),
			table.ThreadName("name", func(x *Thread) int64 { return x.Thread })).Ordered("totalMs"),
		table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid,
			table.Count("count", func(rt *Runtime) int { return rt.Count }),
			table.Amount("totalMs", func(rt *Runtime) float64 { return rt.TotalMS }),
			table.Amount("poolMs", func(rt *Runtime) float64 { return rt.PoolMS }),
			table.Amount("otherMs", func(rt *Runtime) float64 { return rt.OtherMS }),
			table.Amount("maxMs", func(rt *Runtime) measure.Float { return rt.DurationMS.Max })),
		table.Series(r.Runtimes, (*Runtime).pid, "totalMs", func(rt *Runtime) *measure.Series { return &rt.Series }),
	}
}
