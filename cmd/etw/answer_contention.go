package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/contention"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newContention returns the command that shows waits for locks.
func newContention() *cobra.Command {
	return (&question{
		name:  "contention",
		short: "Show how long threads waited for locks",
		long: `Contention shows how often and how long threads of a .NET program waited for locks
that other threads held.

The rows are waits, the longest first, or what --by says: the methods or call stacks
that waited, locks and the objects that they are of (known from .NET 8 on), threads that
waited, owners that were waited for (known from .NET 8 on; those of which it is not
known are a row without a thread), processes, or intervals of time. Methods are those
that called the runtime's to lock. Of each process the hundred longest waits are listed
one by one.`,
		example: `  etw contention threads.nettrace
  etw contention --by thread threads.nettrace
  etw contention --by time --format csv threads.nettrace
  etw contention --format json threads.nettrace | jq '.count, .totalMs'`,
		views: []string{"wait", byMethod, byStack, "lock", "thread", "owner", "process", "time"},
		needs: contention.Needs,
		ask:   func(mux *etw.Mux) answer { return &contentionAnswer{analysis: contention.New(mux)} },
	}).recorded(recordedFor, nil)
}

type contentionAnswer struct {
	analysis *contention.Analysis
	res      *contention.Result
}

func (a *contentionAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Runtimes) > 0
}

func (a *contentionAnswer) result() any        { return a.res }
func (a *contentionAnswer) warnings() []string { return a.res.Warnings() }
func (a *contentionAnswer) several() bool      { return len(a.res.Runtimes) > 1 }

func (a *contentionAnswer) samples() []*stacks.Samples { return a.analysis.Samples() }

func (a *contentionAnswer) machinery() []string { return lockingCode }

func (a *contentionAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes, %s", count(a.res.Count, "wait", "waits"), len(a.res.Runtimes), ms(a.res.TotalMS)))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("waits", "%d, %d of them for locks inside of the runtime", rt.Count, rt.Native)
		p.line("waited", "%s", spread(&rt.DurationMS))
	}
}

func (a *contentionAnswer) table(view string, who *names) *table {
	switch view {
	case "lock":
		return a.locks(who)
	case "thread":
		return a.threads(who)
	case "owner":
		return a.owners(who)
	case "process":
		return a.processes(who)
	case "time":
		var list []owned[*quantity.Series]
		for _, rt := range a.res.Runtimes {
			list = append(list, owned[*quantity.Series]{rt.PID, &rt.Series})
		}
		return seriesTable(list, who, "totalMs")
	}
	return a.waits(who)
}

// waits lists the longest waits.
func (a *contentionAnswer) waits(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("startMs"), msColumn("durationMs"), idColumn("thread"), idColumn("owner"), label("lock"), label("object"))...)
	type row struct {
		pid int64
		contention.Wait
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
		owner := ""
		if w.Owner != 0 {
			owner = whole(w.Owner)
		}
		t.add(append(who.processCells(w.pid), exact(w.StartMS), exact(w.DurationMS), whole(w.Thread), owner, w.Lock, w.Object)...)
	}
	return t
}

func (a *contentionAnswer) locks(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), msColumn("totalMs"), msColumn("maxMs"), label("lock"), label("object"))...)
	for _, rt := range a.res.Runtimes {
		for _, l := range rt.Locks {
			t.add(append(who.processCells(rt.PID), whole(l.Count), exact(l.TotalMS), exact(l.MaxMS), l.Lock, l.Object)...)
		}
	}
	return t
}

// threadTable returns a table without rows for threads and their waits.
func (a *contentionAnswer) threadTable() *table {
	return newTable(append(processColumns(a.several()), counted("count"), msColumn("totalMs"), msColumn("maxMs"), idColumn("thread"), label("name"))...)
}

func (a *contentionAnswer) threads(who *names) *table {
	t := a.threadTable()
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Threads {
			t.add(threadCells(who, rt.PID, x)...)
		}
	}
	return t
}

// owners lists whom threads waited for; the waits of which that is not known have a
// row without a thread, so that the rows are all waits.
func (a *contentionAnswer) owners(who *names) *table {
	t := a.threadTable()
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Owners {
			t.add(threadCells(who, rt.PID, x)...)
		}
		if x := rt.WithoutOwner; x != nil {
			t.add(append(who.processCells(rt.PID), whole(x.Count), exact(x.TotalMS), exact(x.MaxMS), "", "")...)
		}
	}
	return t
}

func threadCells(who *names, pid int64, x contention.Thread) []string {
	return append(who.processCells(pid), whole(x.Count), exact(x.TotalMS), exact(x.MaxMS), whole(x.Thread), who.threads[x.Thread])
}

func (a *contentionAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("count"), msColumn("totalMs"), msColumn("meanMs"), msColumn("maxMs"), counted("native"))...)
	for _, rt := range a.res.Runtimes {
		t.add(append(who.processCells(rt.PID), whole(rt.Count), exact(rt.TotalMS), maybe(rt.DurationMS.Mean), maybe(rt.DurationMS.Max), whole(rt.Native))...)
	}
	return t
}
