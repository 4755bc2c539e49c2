package ask

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewThreadPool returns the command that shows the thread pool.
func NewThreadPool() *Question {
	q := new(Question)
	*q = Question{
		name:   "threadpool",
		naming: true,
		short:  "Show the thread pool: its workers, its queue, and whether it starves",
		Long: `Threadpool shows how many threads the thread pool of a .NET program had and wanted,
how long work waited in its queue, and whether it starved: whether work waited since
all workers were blocked, and in which code, if the trace has samples of threads.

The rows are changes of the wished number of workers, in order, or by --by:
reasons of these, processes, or the number of workers over time.`,
		example: `  etw threadpool threads.nettrace
  etw threadpool --by reason threads.nettrace
  etw threadpool --by time --format csv threads.nettrace
  etw threadpool --format json threads.nettrace | jq '.runtimes[0].maxWorkers'`,
		next: []show.Suggestion{
			show.Next("etw top --by stack --of waits --top 5", "which code blocks threads"),
			show.Next("etw waits --locks", "which locks are contended"),
			show.Next("etw requests", "which requests are slow meanwhile"),
		},
		views: viewsOf(new(threadpool.Result)), codeless: viewsOf(new(threadpool.Result)),
		Needs: threadpool.Needs,
		clips: true, standing: true,
		ask: func(mux *etw.Mux) answer {
			a := threadpool.New(mux)
			if m := q.named; m != nil {
				a.NameBy(func(s *stacks.Samples) *stacks.Profile { return m.Below("", s) })
			}
			return &viewed[*threadpool.Result]{find: a.Result, facts: threadpoolTotals}
		},
	}
	return q
}

func threadpoolTotals(p *page, res *threadpool.Result) {
	if len(res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%d runtimes", len(res.Runtimes)))
		p.small(viewOf(res, "process", p.names))
		return
	}
	for _, rt := range res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		if rt.MaxWorkers+rt.Started+rt.Stopped > 0 {
			p.line("workers", "%d at most, %d at the end; %d started, %d stopped", rt.MaxWorkers, rt.LastWorkers, rt.Started, rt.Stopped)
		}
		if l := rt.Limits; l != nil {
			p.line("limits", "%d to %d workers, %d to %d threads for I/O", l.MinWorkers, l.MaxWorkers, l.MinIO, l.MaxIO)
		}
		if n := rt.WorkersRequested; n > 0 {
			p.line("requested", "%s of the runtime, which is no count of work", measure.Count(n, "worker", "workers"))
		}
		if q := rt.Queue; q != nil {
			p.line("work", "%s came, %d were begun; %d were not: they wait, or a thread that waited for them ran them", measure.Count(q.Enqueued, "item", "items"), q.Dequeued, q.Waiting)
			if q.WaitMS.Count > 0 {
				p.line("waited", "%s", show.Spread(&q.WaitMS))
			}
			if q.ByOrder > 0 {
				p.line("", "collections moved %s, by whose address this runtime names it: their sum is right, each one's time taken by order", measure.Count(q.ByOrder, "item that waited", "items that waited"))
			}
		} else {
			p.line("work", "not in the trace; the queue is recorded by System.Diagnostics.Eventing.FrameworkEventSource:0x2:5")
		}
		if s := &rt.ThroughputPerSec; s.Count > 0 {
			p.line("throughput", "%.0f items per second on average, %.0f at most, as the pool measured it while it had work", s.Mean.Or(0), s.Max.Or(0))
		}
		if s := rt.Starvation; s != nil {
			unsure := ""
			if s.Unsure {
				unsure = "; whether work waited for one is not known"
			}
			p.line("starvation", "%s%s", strings.Join(s.Because, "; "), unsure)
			p.line("held by", "%s", s.Held())
		} else if rt.Queue == nil {
			p.line("starvation", "no sign of it in the number of workers")
		} else {
			p.line("starvation", "no sign of it")
		}
	}
}
