package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/alloc"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newAllocs returns the command that shows what was allocated.
func newAllocs() *cobra.Command {
	return (&question{
		name:  "allocs",
		short: "Show what was allocated, by type",
		long: `Allocs shows which types a .NET program allocates memory for. A runtime writes an
event for some 100 KB that it hands out, with the type of the object that passed that
line: bytes and objects are estimates, and ERROR PERCENT is how far off they may be.
Runtimes of .NET 10 can draw samples instead, which are unbiased; old ones can count
every object. Numbers of different kinds of events are never added.

The rows are types, or what --by says: the methods or call stacks that allocate, kinds
of heaps, processes, or intervals of
time.`,
		example: `  etw allocs alloc.nettrace
  etw allocs --top 5 --format md alloc.nettrace
  etw allocs --by kind alloc.nettrace
  etw allocs --by time --format csv alloc.nettrace
  etw allocs --format json alloc.nettrace | jq '.types[0].type'`,
		views: []string{"type", byMethod, byStack, "kind", "process", "time"},
		needs: alloc.Needs,
		ask:   func(mux *etw.Mux) answer { return &allocAnswer{analysis: alloc.New(mux)} },
	}).recorded(recordedFor, nil)
}

type allocAnswer struct {
	analysis *alloc.Analysis
	res      *alloc.Result
}

func (a *allocAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Runtimes) > 0
}

func (a *allocAnswer) result() any        { return a.res }
func (a *allocAnswer) warnings() []string { return a.res.Warnings() }

func (a *allocAnswer) samples() []*stacks.Samples { return a.analysis.Samples() }

func (a *allocAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%d runtimes, %s", len(a.res.Runtimes), mb(a.res.Bytes/1e6)))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		if t := rt.Ticks; t != nil {
			p.line("by ticks", "%s in %s", mb(float64(t.Bytes)/1e6), count(t.Count, "event", "events"))
			for _, k := range t.Kinds {
				p.line("  "+k.Kind, "%s in %s", mb(float64(k.Bytes)/1e6), count(k.Count, "event", "events"))
			}
		}
		if s := rt.Samples; s != nil {
			p.line("by samples", "%s in %.0f objects, from %s", mb(s.Bytes/1e6), s.Objects, count(s.Count, "sample", "samples"))
		}
		if x := rt.Exact; x != nil {
			p.line("by counting", "%s in %d objects, from %s", mb(float64(x.Bytes)/1e6), x.Objects, count(x.Events, "event", "events"))
		}
	}
}

func (a *allocAnswer) table(view string, who *names) *table {
	switch view {
	case "kind":
		return a.kinds(who)
	case "process":
		return a.processes(who)
	case "time":
		var list []owned[*quantity.Series]
		for _, rt := range a.res.Runtimes {
			switch {
			case rt.Ticks != nil:
				list = append(list, owned[*quantity.Series]{rt.PID, &rt.Ticks.Series})
			case rt.Samples != nil:
				list = append(list, owned[*quantity.Series]{rt.PID, &rt.Samples.Series})
			}
		}
		return seriesTable(list, who, "bytes")
	}
	return a.types()
}

// types lists the types of all processes. Where there are neither ticks nor
// samples, they are those that were counted.
func (a *allocAnswer) types() *table {
	t := newTable(mbColumn("MB").forPeople(), measured("bytes", 0).forPrograms(), measured("sharePercent", 1), counted("ticks"), counted("objects"),
		measured("errorPercent", 1), label("type"))
	list := a.res.Types
	if len(list) == 0 {
		for _, rt := range a.res.Runtimes {
			if rt.Exact != nil {
				list = append(slices.Clone(list), rt.Exact.Types...)
			}
		}
	}
	for _, x := range list {
		t.add(exact(x.Bytes/1e6), exact(x.Bytes), maybe(x.SharePercent), whole(x.Ticks), maybe(x.Objects), maybe(x.ErrorPercent), x.Type)
	}
	return t
}

// kinds lists the kinds of heaps.
func (a *allocAnswer) kinds(who *names) *table {
	t := newTable(append(processColumns(len(a.res.Runtimes) > 1), mbColumn("MB").forPeople(), counted("bytes").forPrograms(), counted("ticks"), label("kind"))...)
	for _, rt := range a.res.Runtimes {
		if rt.Ticks == nil {
			continue
		}
		for _, k := range rt.Ticks.Kinds {
			t.add(append(who.processCells(rt.PID), exact(float64(k.Bytes)/1e6), whole(k.Bytes), whole(k.Count), k.Kind)...)
		}
	}
	return t
}

// processes lists what was allocated in each, by every kind of events.
func (a *allocAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("ticks"), mbColumn("tickedMB"), counted("samples"), mbColumn("sampledMB"), counted("countedObjects"), mbColumn("countedMB"))...)
	for _, rt := range a.res.Runtimes {
		row := append(who.processCells(rt.PID), "", "", "", "", "", "")
		if x := rt.Ticks; x != nil {
			row[2], row[3] = whole(x.Count), exact(float64(x.Bytes)/1e6)
		}
		if x := rt.Samples; x != nil {
			row[4], row[5] = whole(x.Count), exact(x.Bytes/1e6)
		}
		if x := rt.Exact; x != nil {
			row[6], row[7] = whole(x.Objects), exact(float64(x.Bytes)/1e6)
		}
		t.add(row...)
	}
	return t
}
