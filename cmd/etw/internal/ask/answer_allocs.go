package ask

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewAllocs returns the command that shows allocations.
func NewAllocs() *Question {
	q := new(Question)
	*q = Question{
		name:  "allocs",
		short: "Show allocations, by type",
		Long: `Allocs shows which types a .NET program allocates memory for. A runtime writes an
event for some 100 KB that it hands out, with the type of the object that passed that
line: bytes and objects are estimates, and ERROR PERCENT is how far off they may be.
Runtimes of .NET 10 can draw samples instead, which are unbiased; old ones can count
every object. Numbers of different kinds of events are never added.

The rows are types, or by --by: the methods or call stacks that allocate, kinds
of heaps, processes, or intervals of
time.`,
		example: `  etw allocs alloc.nettrace
  etw allocs --top 5 --format md alloc.nettrace
  etw allocs --by kind alloc.nettrace
  etw allocs --by time --format csv alloc.nettrace
  etw allocs --format json alloc.nettrace | jq '.types[0].type'`,
		next:     []show.Suggestion{show.Next("etw top --of allocs", "which code allocates"), show.Next("etw gc", "the price of collecting them")},
		views:    viewsOf(new(alloc.Result), byMethod, byStack),
		threaded: "only events",
		Needs:    alloc.Needs,
		instead:  slices.Concat(alloc.NeedsSampled, alloc.NeedsExact),
		ask: func(mux *etw.Mux) answer {
			a, collected := alloc.New(mux), gc.New(mux)
			find := func() *alloc.Result {
				res, of := a.Result(), q.asked
				if of.Processes = nil; of.All() { // collections are of all threads, and of the time between two
					res.Compare(collected.Result())
				}
				return res
			}
			return &viewed[*alloc.Result]{find: find, facts: allocTotals, stacked: a.Samples}
		},
	}
	return q
}

func allocTotals(p *page, res *alloc.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%d runtimes, %s", len(res.Runtimes), show.Size(res.Bytes)))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		if t := rt.Ticks; t != nil {
			but := ""
			if mb, ok := t.CollectedMB.Get(); ok {
				but = fmt.Sprintf("; collections found %s, as gc says, which is nearer the truth", show.Size(mb*1e6))
			}
			p.line("by ticks", "%s in %s%s", show.Size(float64(t.Bytes)), show.Count(t.Count, "event", "events"), but)
			for _, k := range t.Kinds {
				p.line("  "+k.Kind, "%s in %s", show.Size(float64(k.Bytes)), show.Count(k.Count, "event", "events"))
			}
		}
		if s := rt.Samples; s != nil {
			p.line("by samples", "%s in %.0f objects, from %s", show.Size(s.Bytes), s.Objects, show.Count(s.Count, "sample", "samples"))
		}
		if x := rt.Exact; x != nil {
			p.line("by counting", "%s in %d objects, from %s", show.Size(float64(x.Bytes)), x.Objects, show.Count(x.Events, "event", "events"))
		}
	}
}
