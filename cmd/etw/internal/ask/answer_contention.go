package ask

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewContention returns the command that shows waits for locks.
func NewContention() *Question {
	return &Question{
		name:  "contention",
		short: "Show how long threads waited for locks",
		Long: `Contention shows how often and how long threads of a .NET program waited for locks
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
		next: []show.Suggestion{
			show.Next("etw top --of contention", "which code waits for locks"),
			show.Next("etw threadpool", "whether the thread pool starves of it"),
		},
		views:    viewsOf(new(contention.Result), byMethod, byStack),
		threaded: "only events",
		naming:   true,
		Needs:    contention.Needs,
		ask: func(mux *etw.Mux) answer {
			a := contention.New(mux)
			return &viewed[*contention.Result]{find: a.Result, facts: contentionTotals, stacked: a.Samples, within: code.LockingCode}
		},
	}
}

func contentionTotals(p *page, res *contention.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes, %s", show.Count(res.Count, "wait", "waits"), len(res.Runtimes), show.MS(res.TotalMS)))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("waits", "%d, %d of them for locks inside of the runtime", rt.Count, rt.Native)
		p.line("waited", "%s", show.Spread(&rt.DurationMS))
	}
}
