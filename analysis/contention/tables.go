package contention

import (
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: waits, and sums of them.
func (r *Result) Tables() []table.View {
	locks := func(rt *Runtime) []*Lock { return table.Refs(rt.Locks) }
	threads := func(rt *Runtime) []*Thread { return table.Refs(rt.Threads) }
	return []table.View{
		r.waits(),
		table.Each("lock", "Locks", r.Runtimes, (*Runtime).pid, locks,
			table.Count("count", func(x *Lock) int { return x.Count }).As("Waits"),
			table.Amount("totalMs", func(x *Lock) float64 { return x.TotalMS }),
			table.Amount("maxMs", func(x *Lock) float64 { return x.MaxMS }).As("Longest"),
			table.Text("lock", func(x *Lock) string { return x.Lock }).About(),
			table.Text("object", func(x *Lock) string { return x.Object }).About()).Ordered("totalMs"),
		r.ofThreads("thread", "Threads that waited", threads),
		r.ofThreads("owner", "Threads that held the locks", (*Runtime).owners),
		table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid,
			table.Count("count", func(rt *Runtime) int { return rt.Count }),
			table.Amount("totalMs", func(rt *Runtime) float64 { return rt.TotalMS }),
			table.Amount("meanMs", func(rt *Runtime) measure.Float { return rt.DurationMS.Mean }),
			table.Amount("maxMs", func(rt *Runtime) measure.Float { return rt.DurationMS.Max }),
			table.Count("native", func(rt *Runtime) int { return rt.Native }),
			table.Count("reentries", func(rt *Runtime) int { return rt.Reentries }).IfAny()),
		table.Series(r.Runtimes, (*Runtime).pid, "totalMs", func(rt *Runtime) *measure.Series { return &rt.Series }),
	}
}

// waits lists the longest waits.
func (r *Result) waits() table.View {
	open := 0
	for _, rt := range r.Runtimes {
		open += rt.Open
	}
	of := func(rt *Runtime) []*Wait { return append(table.Refs(rt.Longest), table.Refs(rt.Unended)...) }
	return table.Each("wait", "Longest waits", r.Runtimes, (*Runtime).pid, of,
		table.Moment("startMs", func(w *Wait) float64 { return w.StartMS }),
		table.Amount("durationMs", func(w *Wait) float64 { return w.DurationMS }),
		table.ID("tid", func(w *Wait) int64 { return w.Thread }),
		table.ThreadName("name", func(w *Wait) int64 { return w.Thread }).IfAny(),
		table.ID("owner", func(w *Wait) int64 { return w.Owner }).Positive().As("Held by"),
		table.ThreadName("ownerName", func(w *Wait) int64 { return w.Owner }).IfAny(),
		table.Text("lock", func(w *Wait) string { return w.Lock }),
		table.Text("object", func(w *Wait) string { return w.Object }),
		table.Text("method", func(w *Wait) string { return w.Method }).IfAny(),
		table.Text("state", func(w *Wait) string { return spans.State(w.Open) }).IfAny()).Sorted("durationMs").Of("longest", "waits", r.Count+open)
}

// owners returns the threads that were waited for, and one without a number for the waits of
// which that is not known, so that they are all waits.
func (rt *Runtime) owners() []*Thread {
	if x := rt.WithoutOwner; x != nil {
		return append(table.Refs(rt.Owners), &Thread{Count: x.Count, TotalMS: x.TotalMS, MaxMS: x.MaxMS})
	}
	return table.Refs(rt.Owners)
}

func (r *Result) ofThreads(name, title string, of func(*Runtime) []*Thread) table.View {
	return table.Each(name, title, r.Runtimes, (*Runtime).pid, of,
		table.Count("count", func(x *Thread) int { return x.Count }).As("Waits"),
		table.Amount("totalMs", func(x *Thread) float64 { return x.TotalMS }),
		table.Amount("maxMs", func(x *Thread) float64 { return x.MaxMS }).As("Longest"),
		table.ID("tid", func(x *Thread) int64 { return x.Thread }).Positive().About(),
		table.ThreadName("name", func(x *Thread) int64 { return x.Thread })).Ordered("totalMs")
}
