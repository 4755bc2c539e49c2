package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newThreadPool returns the command that shows the thread pool.
func newThreadPool() *cobra.Command {
	return (&question{
		name:  "threadpool",
		short: "Show the thread pool: its workers, its queue, and whether it starves",
		long: `Threadpool shows how many threads the thread pool of a .NET program had and wanted,
how long work waited in its queue, and whether it starved: whether work waited since
all workers were blocked.

The rows are changes of the wished number of workers, in order, or what --by says:
reasons of these, processes, or the number of workers over time.`,
		example: `  etw threadpool threads.nettrace
  etw threadpool --by reason threads.nettrace
  etw threadpool --by time --format csv threads.nettrace
  etw threadpool --format json threads.nettrace | jq '.runtimes[0].maxWorkers'`,
		views: []string{"adjustment", "reason", "process", "time"},
		needs: threadpool.Needs,
		ask:   func(mux *etw.Mux) answer { return &poolAnswer{analysis: threadpool.New(mux)} },
	}).recorded(recordedFor, nil)
}

type poolAnswer struct {
	analysis *threadpool.Analysis
	res      *threadpool.Result
}

func (a *poolAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Runtimes) > 0
}

func (a *poolAnswer) result() any        { return a.res }
func (a *poolAnswer) warnings() []string { return nil }
func (a *poolAnswer) several() bool      { return len(a.res.Runtimes) > 1 }

func (a *poolAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%d runtimes", len(a.res.Runtimes)))
		p.small(a.processes(p.names))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("workers", "%d at most, %d at the end; %d started, %d stopped", rt.MaxWorkers, rt.LastWorkers, rt.Started, rt.Stopped)
		if l := rt.Limits; l != nil {
			p.line("limits", "%d to %d workers, %d to %d threads for I/O", l.MinWorkers, l.MaxWorkers, l.MinIO, l.MaxIO)
		}
		if rt.Enqueued+rt.Dequeued > 0 {
			p.line("work", "%d items came, %d were begun, %d wait at the end", rt.Enqueued, rt.Dequeued, rt.Queued)
		}
		if rt.QueueMS.Count > 0 {
			p.line("waited", "%s", spread(&rt.QueueMS))
		}
		if s := &rt.ThroughputPerSec; s.Count > 0 {
			p.line("throughput", "%.0f items per second on average, %.0f at most", s.Mean.Or(0), s.Max.Or(0))
		}
		if s := rt.Starvation; s != nil {
			p.line("starvation", "%s", strings.Join(s.Because, "; "))
		} else {
			p.line("starvation", "no sign of it")
		}
	}
}

func (a *poolAnswer) table(view string, who *names) *table {
	switch view {
	case "reason":
		return a.reasons(who)
	case "process":
		return a.processes(who)
	case "time":
		return a.workers(who)
	}
	wished := counted("workers")
	wished.head = "WISHED"
	t := newTable(append(processColumns(a.several()), moment("atMs"), wished, measured("throughputPerSec", 1), label("reason"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Adjustments {
			t.add(append(who.processCells(rt.PID), exact(x.AtMS), whole(x.Workers), maybe(x.ThroughputPerSec), x.Reason)...)
		}
	}
	return t
}

func (a *poolAnswer) reasons(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), label("reason"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Reasons {
			t.add(append(who.processCells(rt.PID), whole(x.Count), x.Reason)...)
		}
	}
	return t
}

func (a *poolAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("maxWorkers"), counted("lastWorkers"), counted("adjustments"), counted("enqueued"), counted("dequeued"),
		msColumn("p95QueueMs"), label("starvation"))...)
	for _, rt := range a.res.Runtimes {
		starves := ""
		if s := rt.Starvation; s != nil {
			starves = strings.Join(s.Because, "; ")
		}
		t.add(append(who.processCells(rt.PID), whole(rt.MaxWorkers), whole(rt.LastWorkers), whole(len(rt.Adjustments)), whole(rt.Enqueued), whole(rt.Dequeued),
			maybe(rt.QueueMS.P95), starves)...)
	}
	return t
}

// workers lists the number of workers over time, where it changes.
func (a *poolAnswer) workers(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), counted("workers"))...)
	for _, rt := range a.res.Runtimes {
		for i, n := range rt.Workers.Highest {
			if i == 0 || n != rt.Workers.Highest[i-1] {
				t.add(append(who.processCells(rt.PID), exact(float64(i)*rt.Workers.WidthMS), exact(n))...)
			}
		}
	}
	return t
}
