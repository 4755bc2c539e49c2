package ask

import (
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// waitPath is the side of the question that follows one thread over those that it waited for.
func waitPath() *Question {
	return &Question{
		name:  "path",
		short: "show the use of one thread's time, over the threads\nthat it waited for: the one of --tid, or that waited longest",
		views: viewsOf(new(waits.PathResult)),
		whole: true,
		Needs: waits.NeedsPath,
		ask: func(mux *etw.Mux) answer {
			a := &pathAnswer{paths: waits.NewPaths(mux)}
			a.viewed = &viewed[*waits.PathResult]{find: a.find, facts: pathTotals}
			return a
		},
	}
}

type pathAnswer struct {
	*viewed[*waits.PathResult]
	machine
	paths *waits.Paths
	where placement
}

func (a *pathAnswer) place(p placement) { a.where = p }

func (a *pathAnswer) find() *waits.PathResult {
	return a.paths.Result(a.where.origin, a.where.origin+int64(a.where.from), a.where.origin+int64(a.where.to), a.has)
}

func pathTotals(p *page, res *waits.PathResult) {
	for i := range res.Paths {
		x := &res.Paths[i]
		sums, kind := make(map[string]float64), ""
		for _, part := range x.Parts {
			kind = part.Kind
			if part.Thread != x.Thread && (kind == "runs" || kind == "untold") {
				kind = "others"
			}
			sums[kind] += part.DurationMS
		}
		own := show.MS(sums["runs"]) + " it ran"
		switch n := sums["untold"]; {
		case n > 0 && sums["runs"] > 0:
			own += ", " + show.MS(n) + " that no event tells"
		case n > 0:
			own = show.MS(n) + " it ran, slept or waited without an event of it"
		}
		p.program(x.PID, 0, x.Process)
		p.line("thread", "%d from %s on, for %s", x.Thread, show.MS(x.StartMS), show.MS(x.DurationMS))
		p.line("of that", "%s, %s others that it waited for, %s ready, %s waiting", own, show.MS(sums["others"]), show.MS(sums["ready"]),
			show.MS(sums["lock"]+sums["wait"]+sums["off"]))
	}
}
