package ask

import (
	"github.com/etwgen/etwgen/analysis/lifecycle"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// phases is the side of startup that shows how far processes came.
func phases() *Question {
	return &Question{
		name:  "phases",
		short: "show how far processes came, and when: start, runtime, main, first\nrequest, exit",
		views: viewsOf(new(lifecycle.Result)),
		Needs: []need.Need{need.Processes},
		whole: true,
		ask: func(mux *etw.Mux) answer {
			a := lifecycle.New(mux)
			return aboutMachine(mux, func(is chosen) *lifecycle.Result {
				res := a.Result()
				res.Processes = order.Delete(res.Processes, func(p lifecycle.Process) bool { return !is(p.PID, p.Name) })
				return res
			}, lifecycleTotals)
		},
	}
}

func lifecycleTotals(p *page, res *lifecycle.Result) {
	all := 0
	for i := range res.Processes {
		all += min(len(res.Processes[i].Phases), 1)
	}
	p.title(show.Count(len(res.Processes), "process", "processes") + ", phases are known of " + show.Whole(all))
}
