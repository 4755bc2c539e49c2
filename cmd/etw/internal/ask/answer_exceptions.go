package ask

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/exceptions"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewExceptions returns the command that shows exceptions.
func NewExceptions() *Question {
	return &Question{
		name:  "exceptions",
		short: "Show which exceptions were thrown",
		Long: `Exceptions shows which exceptions a .NET program threw, and which blocks of code
handled them.

The rows are types, or by --by: the methods or call stacks that throw, messages,
exceptions in the order in which they were thrown, threads, handlers, processes, or
intervals of time. Methods are those that called the runtime's to throw. Of each
process the first thousand exceptions are listed one by one.

An exception that crosses an await, or a wait for a task, has one more event each time:
it is passed on, which its call stack tells, and is not counted as thrown. Since .NET 9
a throw without an operand has no event.`,
		example: `  etw exceptions exceptions.nettrace
  etw exceptions --by message --top 3 exceptions.nettrace
  etw exceptions --by exception --format csv exceptions.nettrace
  etw exceptions --format json exceptions.nettrace | jq '.types[0].count'`,
		next: []show.Suggestion{
			show.Next("etw top --of exceptions", "which code throws"),
			show.Next("etw top --by stack --of exceptions --top 5", "the call stacks that throw most"),
		},
		views:    viewsOf(new(exceptions.Result), byMethod, byStack),
		threaded: "only events",
		Needs:    exceptions.NeedsHandling,
		ask: func(mux *etw.Mux) answer {
			a := exceptions.New(mux)
			return &viewed[*exceptions.Result]{find: a.Result, facts: exceptionsTotals, stacked: a.Samples, skipped: a.Skip, within: code.ThrowingCode}
		},
	}
}

func exceptionsTotals(p *page, res *exceptions.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes", show.Count(res.Throws(), "exception", "exceptions"), len(res.Runtimes)))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("thrown", "%s", rt.Tally.Text())
		if rt.Catches.IsZero() {
			p.line("handled by", "unknown: the trace has no events of blocks that handle, which are of level 4 (informational)")
		} else {
			p.line("handled by", "%.0f catch, %.0f finally and %.0f filter blocks", rt.Catches.Or(0), rt.Finallys.Or(0), rt.Filters.Or(0))
		}
		if rt.CaughtAgain > 0 {
			p.line("caught again", "at least %s: by that many throws without an operand, of which .NET 9 and later write no event", quantity.Times(rt.CaughtAgain))
		}
		if n := len(rt.Uncaught); n > 0 {
			x := &rt.Uncaught[n-1]
			p.line("not caught", "%s until the trace ended, the last at %s in thread %d: %s %s", show.Count(n, "exception", "exceptions"), show.MS(x.AtMS), x.Thread, x.Type, x.Message)
		}
		if rt.HandlingMS.Count > 0 {
			p.line("handling took", "%s", show.Spread(&rt.HandlingMS))
		}
	}
}
