package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/alloc"
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
		views: viewsOf(new(alloc.Result), byMethod, byStack),
		needs: alloc.Needs,
		ask: func(mux *etw.Mux) answer {
			a := alloc.New(mux)
			return &viewed[*alloc.Result]{find: a.Result, facts: allocTotals, stacked: a.Samples}
		},
	}).recorded(recordedFor, nil)
}

func allocTotals(p *page, res *alloc.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%d runtimes, %s", len(res.Runtimes), mb(res.Bytes/1e6)))
		return
	}
	for _, rt := range res.Runtimes {
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
