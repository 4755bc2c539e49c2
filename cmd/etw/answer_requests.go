package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newRequests returns the command that shows activities.
func newRequests() *cobra.Command {
	return (&question{
		name:  "requests",
		short: "Show how long requests and other activities took",
		long: `Requests shows how long the activities of a .NET program took: requests that it serves
and makes, connections, look-ups of names, queries, and whatever else an EventSource
tells as a pair of start and stop events; in .etl files, those of IIS, ASP.NET and
http.sys, too. EXCLUSIVE MS leaves out the time in which an activity was on that this
one had begun.

The rows are tasks, or what --by says: the twenty slowest activities of each task,
statuses that they ended with, processes, or intervals of time.`,
		example: `  etw requests requests-10.nettrace
  etw requests --by activity --top 5 requests-10.nettrace
  etw requests --by status --format md requests-10.nettrace
  etw requests --format json requests-10.nettrace | jq '.processes[0].tasks[0].durationMs.p95'`,
		views: []string{"task", "activity", "status", "process", "time"},
		needs: requests.Needs,
		ask: func(mux *etw.Mux) answer {
			return &requestAnswer{analysis: requests.New(mux)}
		},
	}).recorded(recordedFor, nil)
}

type requestAnswer struct {
	analysis *requests.Analysis
	res      *requests.Result
}

func (a *requestAnswer) take() bool {
	a.res = a.analysis.Result()
	return slices.ContainsFunc(a.res.Processes, func(p *requests.Process) bool { return p.Started+p.Stopped+p.WithoutID > 0 })
}

func (a *requestAnswer) result() any        { return a.res }
func (a *requestAnswer) warnings() []string { return a.res.Warnings() }
func (a *requestAnswer) several() bool      { return len(a.res.Processes) > 1 }

func (a *requestAnswer) totals(p *page) {
	if len(a.res.Processes) > fewRuntimes {
		p.title(fmt.Sprintf("%d processes", len(a.res.Processes)))
		p.small(a.processes(p.names))
		return
	}
	for _, x := range a.res.Processes {
		p.runtime(x.PID, 0)
		p.line("activities", "%d began, %d ended, of %s", x.Started, x.Stopped, count(len(x.Tasks), "kind", "kinds"))
	}
}

func (a *requestAnswer) table(view string, who *names) *table {
	switch view {
	case "activity":
		return a.activities(who)
	case "status":
		return a.statuses(who)
	case "process":
		return a.processes(who)
	case "time":
		return a.overTime(who)
	}
	t := newTable(append(processColumns(a.several()), a.taskColumns()...)...)
	for _, p := range a.res.Processes {
		for _, x := range p.Tasks {
			d := &x.DurationMS
			t.add(append(who.processCells(p.PID), whole(x.Count), whole(x.Errors), whole(x.Open), exact(d.Total), maybe(d.Mean), maybe(d.P50),
				maybe(d.P95), maybe(d.P99), maybe(d.Max), exact(x.ExclusiveMS), maybe(x.PerSec), whole(x.MaxConcurrency), x.Task, x.Provider)...)
		}
	}
	return t
}

// taskColumns are the columns of tasks. Where different providers have tasks of one name,
// people miss the provider more than percentiles.
func (a *requestAnswer) taskColumns() []column {
	var alike likeness
	for _, p := range a.res.Processes {
		for i := range p.Tasks {
			alike.add(p.Tasks[i].Task, p.Tasks[i].Provider)
		}
	}
	p50, p95, p99, provider := msColumn("p50Ms"), msColumn("p95Ms"), msColumn("p99Ms").spared(3), label("provider").spared(1)
	if alike.clash {
		p50, p95, provider = p50.spared(2), p95.spared(1), label("provider")
	}
	return []column{counted("count"), counted("errors"), counted("open").spared(4), msColumn("totalMs"), msColumn("meanMs"), p50, p95, p99, msColumn("maxMs"),
		msColumn("exclusiveMs").spared(5), measured("perSec", 1).spared(6), counted("maxConcurrency").spared(7), label("task"), provider}
}

// A likeness says whether different providers have something of the same name.
type likeness struct {
	provider map[string]string // by the name
	clash    bool
}

func (l *likeness) add(name, provider string) {
	if l.provider == nil {
		l.provider = make(map[string]string)
	}
	if first, ok := l.provider[name]; ok && first != provider {
		l.clash = true
	}
	l.provider[name] = provider
}

// activities lists the slowest activities.
func (a *requestAnswer) activities(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), msColumn("durationMs"), msColumn("exclusiveMs").spared(2), label("task"), label("status"), label("id").spared(3),
		label("parent").spared(1), label("traceId").forPrograms(), label("name"))...)
	type row struct {
		pid  int64
		task string
		requests.Activity
	}
	var rows []row
	for _, p := range a.res.Processes {
		for _, x := range p.Tasks {
			for _, s := range x.Slowest {
				rows = append(rows, row{p.PID, x.Task, s})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.DurationMS, a.DurationMS) })
	for _, x := range rows {
		status := x.Status
		if x.Failed {
			status = cmp.Or(status, "failed")
		}
		t.add(append(who.processCells(x.pid), exact(x.StartMS), exact(x.DurationMS), exact(x.ExclusiveMS), x.task, status, x.ID, x.Parent, x.TraceID, x.Name)...)
	}
	return t
}

func (a *requestAnswer) statuses(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), label("status"), label("task"), label("provider"))...)
	for _, p := range a.res.Processes {
		for _, x := range p.Tasks {
			for _, s := range x.Statuses {
				t.add(append(who.processCells(p.PID), whole(s.Count), s.Status, x.Task, x.Provider)...)
			}
		}
	}
	return t
}

func (a *requestAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("started"), counted("stopped"), counted("open"), counted("tasks"))...)
	for _, p := range a.res.Processes {
		t.add(append(who.processCells(p.PID), whole(p.Started), whole(p.Stopped), whole(p.Open), whole(len(p.Tasks)))...)
	}
	return t
}

// overTime lists how long activities took by the time at which they ended.
func (a *requestAnswer) overTime(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), moment("endMs"), counted("count"), msColumn("totalMs"), label("task"))...)
	for _, p := range a.res.Processes {
		for i := range p.Tasks {
			part := seriesTable([]owned[*quantity.Series]{{p.PID, &p.Tasks[i].Series}}, who, "totalMs")
			for _, row := range part.rows {
				t.add(append(row, p.Tasks[i].Task)...)
			}
		}
	}
	return t
}
