package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newWaits returns the command that shows what threads wait for.
func newWaits() *cobra.Command {
	return (&question{
		name:  "waits",
		short: "Show how long threads waited for events, tasks and the like",
		long: `Waits shows what threads of a .NET program, from .NET 9 on, waited for beside locks:
events, semaphores, tasks and Monitor.Wait. Threads of the thread pool mostly wait for
work; with the events of the thread pool they are told apart.

The rows are waits, the longest first, or what --by says: the methods or call stacks
that waited, sources of waits, threads, processes, or intervals of time. Methods are
those that called System.Threading to wait. Of each process the hundred longest waits
are listed one by one.`,
		example: `  etw waits waits-10.nettrace
  etw waits --by source waits-10.nettrace
  etw waits --by thread --top 3 --format md waits-10.nettrace
  etw waits --format json waits-10.nettrace | jq '.count, .totalMs'`,
		views: []string{"wait", byMethod, byStack, "source", "thread", "process", "time"},
		needs: waits.NeedsPool,
		ask:   func(mux *etw.Mux) answer { return &waitAnswer{analysis: waits.New(mux)} },
	}).recorded(recordedFor, nil)
}

type waitAnswer struct {
	analysis *waits.Analysis
	res      *waits.Result
}

func (a *waitAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Runtimes) > 0
}

func (a *waitAnswer) result() any        { return a.res }
func (a *waitAnswer) warnings() []string { return a.res.Warnings() }
func (a *waitAnswer) several() bool      { return len(a.res.Runtimes) > 1 }

func (a *waitAnswer) samples() []*stacks.Samples { return a.analysis.Samples() }

func (a *waitAnswer) machinery() []string { return waitingCode }

func (a *waitAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes, %s", count(a.res.Count, "wait", "waits"), len(a.res.Runtimes), ms(a.res.TotalMS)))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("waited", "%s: %s", count(rt.Count, "time", "times"), spread(&rt.DurationMS))
		p.line("thread pool", "%s of its workers, %s of other threads", ms(rt.PoolMS), ms(rt.OtherMS))
	}
}

func (a *waitAnswer) table(view string, who *names) *table {
	switch view {
	case "source":
		return a.sources(who)
	case "thread":
		return a.threads(who)
	case "process":
		return a.processes(who)
	case "time":
		var list []owned[*quantity.Series]
		for _, rt := range a.res.Runtimes {
			list = append(list, owned[*quantity.Series]{rt.PID, &rt.Series})
		}
		return seriesTable(list, who, "totalMs")
	}
	t := newTable(append(processColumns(a.several()), moment("startMs"), msColumn("durationMs"), idColumn("thread"), label("name"), label("source"))...)
	type row struct {
		pid int64
		waits.Wait
	}
	var rows []row
	for _, rt := range a.res.Runtimes {
		for _, w := range rt.Longest {
			rows = append(rows, row{rt.PID, w})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.DurationMS, a.DurationMS) })
	t.choose("longest", len(rows), a.res.Count, "waits", a.several())
	for _, w := range rows {
		t.add(append(who.processCells(w.pid), exact(w.StartMS), exact(w.DurationMS), whole(w.Thread), who.threads[w.Thread], w.Source)...)
	}
	return t
}

func (a *waitAnswer) sources(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), msColumn("totalMs"), label("source"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Sources {
			t.add(append(who.processCells(rt.PID), whole(x.Count), exact(x.TotalMS), x.Source)...)
		}
	}
	return t
}

func (a *waitAnswer) threads(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), msColumn("totalMs"), msColumn("maxMs"), idColumn("thread"), label("kind"), label("name"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Threads {
			kind := ""
			if x.Pool {
				kind = "worker of the pool"
			}
			t.add(append(who.processCells(rt.PID), whole(x.Count), exact(x.TotalMS), exact(x.MaxMS), whole(x.Thread), kind, who.threads[x.Thread])...)
		}
	}
	return t
}

func (a *waitAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("count"), msColumn("totalMs"), msColumn("poolMs"), msColumn("otherMs"), msColumn("maxMs"))...)
	for _, rt := range a.res.Runtimes {
		t.add(append(who.processCells(rt.PID), whole(rt.Count), exact(rt.TotalMS), exact(rt.PoolMS), exact(rt.OtherMS), maybe(rt.DurationMS.Max))...)
	}
	return t
}
