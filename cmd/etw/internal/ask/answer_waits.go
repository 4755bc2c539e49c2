package ask

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewWaits returns the command that shows the waits of threads.
func NewWaits() *Question {
	return &Question{
		name:  "waits",
		short: "Show how long threads waited for locks, events, tasks and the like",
		Long: `Waits shows the waits of threads of a .NET program, from .NET 9 on, beside locks:
events, semaphores, tasks and Monitor.Wait. Threads of the thread pool mostly wait for
work; with the events of the thread pool they are told apart.

The rows are waits, the longest first, or by --by. Methods are those that called
System.Threading to wait, or the runtime's to lock; --root 'Oven.%' leaves out idle threads of
the runtime. Of each process the hundred longest waits are listed one by one.

With --locks it shows the waits for locks that other threads held, of .NET of any version.
Locks, the objects that they are of, and owners are known from .NET 8 on; waits for owners
that are not known are a row without a thread.

With --path it shows the use of one thread's time, of --from and --to: over the
threads that held locks it waited for, or that made it ready, as far as events tell.`,
		example: `  etw waits waits-10.nettrace
  etw waits --by source waits-10.nettrace
  etw waits --locks --by thread threads.nettrace
  etw waits --path locks-10.nettrace
  etw waits --format json waits-10.nettrace | jq '.count, .totalMs'`,
		next: []show.Suggestion{
			show.Next("etw top --of waits", "which code waits"),
			show.Next("etw threadpool", "whether the thread pool starves of it"),
		},
		views:    viewsOf(new(waits.Result), byMethod, byStack),
		threaded: "only events",
		clips:    true, standing: true,
		naming:   true,
		Needs:    waits.NeedsPool,
		switched: "it has context switches, which tell the waits of all threads: etw threads --by switch, etw top --of blocked, etw waits --path",
		others:   []*Question{lockWaits(), waitPath()},
		ask: func(mux *etw.Mux) answer {
			a := waits.New(mux)
			return &viewed[*waits.Result]{find: a.Result, facts: waitsTotals, stacked: a.Samples, unended: a.Unended, within: code.WaitingCode}
		},
	}
}

func waitsTotals(p *page, res *waits.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes, %s", show.Count(res.Count, "wait", "waits"), len(res.Runtimes), show.MS(res.TotalMS)))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("waited", "%s: %s", show.Count(rt.Count, "time", "times"), show.Spread(&rt.DurationMS))
		if rt.PoolUntold {
			p.line("thread pool", "the trace has no events of its workers, which tell their waits from those of others (keyword Threading)")
			continue
		}
		p.line("thread pool", "%s of its workers, %s of other threads", show.MS(rt.PoolMS), show.MS(rt.OtherMS))
	}
}
