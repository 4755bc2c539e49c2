package ask

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// lockWaits is the side of the question about waits that is of locks.
func lockWaits() *Question {
	return &Question{
		name:  "locks",
		short: "show the waits for locks that other threads held",
		next: []show.Suggestion{
			show.Next("etw top --of contention", "which code waits for locks"),
			show.Next("etw threadpool", "whether the thread pool starves of it"),
		},
		views: viewsOf(new(contention.Result), byMethod, byStack),
		Needs: contention.Needs,
		clips: true, standing: true,
		ask: func(mux *etw.Mux) answer {
			a := contention.New(mux)
			return &viewed[*contention.Result]{find: a.Result, facts: contentionTotals, stacked: a.Samples, unended: a.Unended, skipped: a.Skip, within: code.LockingCode}
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
		switch {
		case rt.Reentries > 0 && rt.Untold > 0:
			p.line("re-entered", "%d of them at least, %d at most: after Monitor.Wait, to have the lock again", rt.Reentries, rt.Reentries+rt.Untold)
		case rt.Reentries > 0:
			p.line("re-entered", "%d of them: after Monitor.Wait, to have the lock again", rt.Reentries)
		}
		p.line("waited", "%s", show.Spread(&rt.DurationMS))
		if len(rt.Unended) > 0 {
			p.line("not over", "%s at the end, the longest after %s", show.Count(rt.Open, "wait", "waits"), show.MS(rt.Unended[0].DurationMS))
		}
		for _, d := range rt.Deadlocks {
			p.line("deadlock", "threads %s wait for each other, since %s", strings.Trim(fmt.Sprint(d.Threads), "[]"), show.MS(d.SinceMS))
		}
	}
}
