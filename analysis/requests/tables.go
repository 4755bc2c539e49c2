package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
)

func (p *Process) pid() int64 { return p.PID }

// A row is of a task.
type row[T any] struct {
	*Task
	of *T
}

// Tables returns the tables of a result: activities, and sums of them.
func (r *Result) Tables() []table.View {
	return []table.View{
		r.tasks(), r.endpoints(), r.activities(), r.causes(), r.paths(),
		each(r, "status", "Statuses", func(x *Task) []Status { return x.Statuses },
			table.Count("count", func(x *row[Status]) int { return x.of.Count }),
			table.Text("status", func(x *row[Status]) string { return x.of.Status }),
			table.Text("task", func(x *row[Status]) string { return x.Task.Task }),
			table.Text("provider", func(x *row[Status]) string { return x.Provider })),
		table.Parts("process", "Processes", r.Processes, (*Process).pid,
			table.Count("started", func(p *Process) int { return p.Started }),
			table.Count("stopped", func(p *Process) int { return p.Stopped }),
			table.Count("open", func(p *Process) int { return p.Open }),
			table.Count("tasks", func(p *Process) int { return len(p.Tasks) })),
		r.methods(),
		each(r, "time", "Over time", func(x *Task) []table.Bucket { return table.Buckets(&x.Series) },
			append(table.BucketColumns("totalMs", func(x *row[table.Bucket]) *table.Bucket { return x.of }),
				table.Text("task", func(x *row[table.Bucket]) string { return x.Task.Task }))...),
	}
}

// each returns a view of rows of tasks.
func each[T any](r *Result, name, title string, of func(*Task) []T, columns ...table.Column[*row[T]]) table.View {
	rows := func(p *Process) (list []*row[T]) {
		for i := range p.Tasks {
			for _, x := range table.Refs(of(&p.Tasks[i])) {
				list = append(list, &row[T]{&p.Tasks[i], x})
			}
		}
		return list
	}
	return table.Each(name, title, r.Processes, (*Process).pid, rows, columns...)
}

// tasks lists the tasks. Where different providers have tasks of one name, people miss the
// provider more than percentiles.
func (r *Result) tasks() table.View {
	var all []*Task
	for _, p := range r.Processes {
		all = append(all, table.Refs(p.Tasks)...)
	}
	p50, p95, provider := 0, 0, 1
	if table.Alike(all, func(x *Task) string { return x.Task }, func(x *Task) string { return x.Provider }) {
		p50, p95, provider = 2, 1, 0
	}
	return table.Each("task", "By task", r.Processes, (*Process).pid, func(p *Process) []*Task { return table.Refs(p.Tasks) },
		table.Count("count", func(x *Task) int { return x.Count }).As("Ended"),
		table.Amount("errors", func(x *Task) measure.Float { return x.Errors }).To(0).As("Failed"),
		table.Count("open", func(x *Task) int { return x.Open }).Spared(4),
		table.Amount("totalMs", func(x *Task) float64 { return x.DurationMS.Total }),
		table.Amount("meanMs", func(x *Task) measure.Float { return x.DurationMS.Mean }),
		table.Amount("p50Ms", func(x *Task) measure.Float { return x.DurationMS.P50 }).Spared(p50),
		table.Amount("p95Ms", func(x *Task) measure.Float { return x.DurationMS.P95 }).Spared(p95),
		table.Amount("p99Ms", func(x *Task) measure.Float { return x.DurationMS.P99 }).Spared(3),
		table.Amount("maxMs", func(x *Task) measure.Float { return x.DurationMS.Max }).As("Longest"),
		table.Amount("exclusiveMs", func(x *Task) float64 { return x.ExclusiveMS }).Spared(5).As("Own").Helped("without the times of activities that these began"),
		table.Amount("perSec", func(x *Task) measure.Float { return x.PerSec }).To(1).Spared(6),
		table.Count("maxConcurrency", func(x *Task) int { return x.MaxConcurrency }).Spared(7).As("At once"),
		table.Text("task", func(x *Task) string { return x.Task }).About(),
		table.Text("provider", func(x *Task) string { return x.Provider }).Spared(provider).About()).Ordered("totalMs")
}

// endpoints lists where HTTP requests went to.
func (r *Result) endpoints() table.View {
	columns := []table.Column[*row[Endpoint]]{
		table.Count("count", func(x *row[Endpoint]) int { return x.of.Count }).As("Ended"),
		table.Amount("errors", func(x *row[Endpoint]) measure.Float { return x.of.Errors }).To(0).As("Failed"),
		table.Count("open", func(x *row[Endpoint]) int { return x.of.Open }).IfAny(),
		table.Amount("openMs", func(x *row[Endpoint]) measure.Float { return x.of.OpenMS }).As("Longest open").Helped("how long the longest had taken that was not over at the end").IfAny(),
		table.Amount("totalMs", func(x *row[Endpoint]) float64 { return x.of.DurationMS.Total }),
		table.Amount("meanMs", func(x *row[Endpoint]) measure.Float { return x.of.DurationMS.Mean }).Spared(8),
		table.Amount("p50Ms", func(x *row[Endpoint]) measure.Float { return x.of.DurationMS.P50 }).Spared(3),
		table.Amount("p95Ms", func(x *row[Endpoint]) measure.Float { return x.of.DurationMS.P95 }),
		table.Amount("p99Ms", func(x *row[Endpoint]) measure.Float { return x.of.DurationMS.P99 }).Spared(1),
		table.Amount("maxMs", func(x *row[Endpoint]) measure.Float { return x.of.DurationMS.Max }).As("Longest").Spared(4),
	}
	columns = append(columns, causeColumns(func(x *row[Endpoint]) *Causes { return x.of.Causes })...)
	columns = append(columns,
		table.Text("endpoint", func(x *row[Endpoint]) string { return x.of.Endpoint }).About(),
		table.Text("status", func(x *row[Endpoint]) string {
			var list []string
			for _, s := range x.of.Statuses {
				list = append(list, fmt.Sprintf("%s: %d", s.Status, s.Count))
			}
			return strings.Join(list, ", ")
		}),
		table.Text("task", func(x *row[Endpoint]) string { return x.Task.Task }).Spared(11),
		table.Text("provider", func(x *row[Endpoint]) string { return x.Provider }).Spared(2).About())
	return each(r, "endpoint", "By endpoint", func(x *Task) []Endpoint { return x.Endpoints }, columns...).Sorted("totalMs")
}

// causeColumns are where time went, where traces tell that.
func causeColumns[T any](of func(T) *Causes) []table.Column[T] {
	column := func(name, label, help string, spare int, value func(*Causes) float64) table.Column[T] {
		return table.Amount(name, func(x T) measure.Float {
			if c := of(x); c != nil {
				return measure.Known(value(c))
			}
			return measure.Float{}
		}).As(label).Helped(help).IfAny().Spared(spare)
	}
	return []table.Column[T]{
		column("runningMs", "Running", "in code, with a processor, or without one where the trace has no switches", 0, func(c *Causes) float64 { return c.RunningMS }),
		column("awaitingMs", "Awaiting", "nothing of it could run", 0, func(c *Causes) float64 { return c.AwaitingMS }),
		column("queuedMs", "Queued", "in the queue of the thread pool", 0, func(c *Causes) float64 { return c.QueuedMS }),
		column("blockedMs", "Blocked", "a thread waited for something but a lock", 0, func(c *Causes) float64 { return c.BlockedMS }),
		column("readyMs", "Ready", "a thread had no processor, by switches of threads", 8, func(c *Causes) float64 { return c.ReadyMS }),
		column("lockMs", "Locks", "a thread waited for a lock", 0, func(c *Causes) float64 { return c.LockMS }),
		column("gcMs", "Collections", "stopped for a collection", 5, func(c *Causes) float64 { return c.GCMS }),
		column("jitMs", "Compiling", "", 6, func(c *Causes) float64 { return c.JITMS }),
		column("othersMs", "Others", "other work let it go on: a thread did it for another activity, or for none", 7, func(c *Causes) float64 { return c.OthersMS }),
		column("untoldMs", "Untold", "in native code that managed code called, where threads may have worked or waited: nothing tells which", 0, func(c *Causes) float64 { return c.UntoldMS }),
		column("parallelMs", "Parallel", "threads worked for it beside the path that its end waited for; no part of its time", 9, func(c *Causes) float64 { return c.ParallelMS }),
		column("lateMs", "Late", "threads worked for it after its end; no part of its time", 10, func(c *Causes) float64 { return c.LateMS }),
	}
}

// times are the columns of causes.
func times(name string) []table.Column[*row[Cause]] {
	return []table.Column[*row[Cause]]{
		table.Amount("totalMs", func(x *row[Cause]) float64 { return x.of.TotalMS }),
		table.Count("parts", func(x *row[Cause]) int { return x.of.Parts }).Spared(2),
		table.Amount("maxMs", func(x *row[Cause]) float64 { return x.of.MaxMS }).As("Longest").Spared(1),
		table.Text("kind", func(x *row[Cause]) string { return x.of.Kind }).About(),
		table.Text("name", func(x *row[Cause]) string { return x.of.Name }).Helped(name),
	}
}

// methods lists the async methods that the runtime itself tells of.
func (r *Result) methods() table.View {
	return table.Each("async", "Async methods", r.Processes, (*Process).pid, func(p *Process) (list []*row[Cause]) {
		if p.RuntimeAsync == nil {
			return nil
		}
		for _, m := range p.RuntimeAsync.Methods {
			list = append(list, &row[Cause]{nil, &Cause{activities.Awaiting.String(), m.Name, false, m.Awaits, m.AwaitingMS, m.LongestMS}},
				&row[Cause]{nil, &Cause{activities.Running.String(), m.Name, false, m.Runs, m.RunningMS, m.LongestRunMS}})
		}
		return order.Delete(list, func(x *row[Cause]) bool { return x.of.Parts == 0 })
	}, times("of the method")...).Sorted("totalMs")
}

// causes lists the causes of the time of tasks, or of the activity asked for.
func (r *Result) causes() table.View {
	columns := times("of what was awaited, or who held the lock")
	if len(r.Why) > 0 {
		rows := func(w *Why) (list []*row[Cause]) {
			for _, c := range table.Refs(w.CausedBy) {
				list = append(list, &row[Cause]{nil, c})
			}
			return list
		}
		return table.Each("cause", "Where the time went", r.Why, (*Why).pid, rows, columns...).Sorted("totalMs")
	}
	return each(r, "cause", "Where the time went", func(x *Task) []Cause { return x.CausedBy },
		append(columns, table.Text("task", func(x *row[Cause]) string { return x.Task.Task }),
			table.Text("provider", func(x *row[Cause]) string { return x.Provider }).Spared(3))...).Sorted("totalMs")
}

// paths lists the parts of the slowest activity of those that were asked for.
func (r *Result) paths() table.View {
	return table.Each("path", "The path of the slowest", r.Why, (*Why).pid, func(w *Why) []*Part { return table.Refs(w.Path) },
		table.Moment("startMs", func(x *Part) float64 { return x.StartMS }),
		table.Amount("durationMs", func(x *Part) float64 { return x.DurationMS }),
		table.Text("kind", func(x *Part) string { return x.Kind }).About(),
		table.ID("tid", func(x *Part) int64 { return x.Thread }).Positive(),
		table.Text("name", func(x *Part) string { return x.Name }).Helped("of what was awaited, who held the lock, or how much of what ran was compiling and collections"))
}

func (w *Why) pid() int64 { return w.PID }

// activities lists the activities of each task, the slowest or all.
func (r *Result) activities() table.View {
	columns := []table.Column[*row[Activity]]{
		table.Moment("startMs", func(x *row[Activity]) float64 { return x.of.StartMS }),
		table.Amount("durationMs", func(x *row[Activity]) float64 { return x.of.DurationMS }),
		table.Amount("exclusiveMs", func(x *row[Activity]) float64 { return x.of.ExclusiveMS }).Spared(2).As("Own"),
		table.Text("task", func(x *row[Activity]) string { return x.Task.Task }).About(),
		table.Text("provider", func(x *row[Activity]) string { return x.Provider }).Spared(1).About(),
		table.Text("status", func(x *row[Activity]) string {
			if x.of.Failed {
				return cmp.Or(x.of.Status, "failed")
			}
			return x.of.Status
		}),
		table.Flag("open", func(x *row[Activity]) bool { return x.of.Open }).IfAny().Helped("it was not over at the end"),
		table.Flag("failed", func(x *row[Activity]) bool { return x.of.Failed }).For(table.Details),
		table.Text("id", func(x *row[Activity]) string { return x.of.ID }).Spared(3).As("Activity"),
		table.Text("parent", func(x *row[Activity]) string { return x.of.Parent }).Spared(4).As("Begun by"),
		table.Flag("afterParent", func(x *row[Activity]) bool { return x.of.AfterParent }).As("Late").IfAny().Spared(5).Helped("the activity that began it was over before it"),
		table.Text("traceId", func(x *row[Activity]) string { return x.of.TraceID }).For(table.Programs),
		table.Text("spanId", func(x *row[Activity]) string { return x.of.SpanID }).For(table.Details),
		table.Text("name", func(x *row[Activity]) string { return x.of.Name }).About(),
	}
	for _, c := range causeColumns(func(x *row[Activity]) *Causes { return x.of.Causes }) {
		columns = append(columns, c.For(table.Details))
	}
	return each(r, "activity", "The slowest of each task", func(x *Task) []Activity { return append(slices.Clip(x.Slowest), x.Unended...) }, columns...).Sorted("durationMs")
}
