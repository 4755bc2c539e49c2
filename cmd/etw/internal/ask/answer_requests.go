package ask

import (
	"fmt"
	"math"
	"slices"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewRequests returns the command that shows activities.
func NewRequests() *Question {
	q := new(Question)
	*q = Question{
		name:  "requests",
		reads: true,
		short: "Show how long requests and other activities took",
		Long: `Requests shows how long the activities of a .NET program took: requests that it serves
and makes, connections, look-ups of names, queries, and whatever else an EventSource
tells as a pair of start and stop events; in .etl files, those of IIS, ASP.NET and
http.sys, too. EXCLUSIVE MS leaves out the time in which an activity was on that this
one had begun.

The rows are tasks, or what --by says: endpoints, that is HTTP requests by method and
route, or path with * for ids; all activities; statuses that they ended with; processes;
or intervals of time. JSON as one document has the twenty slowest of each task, with --by
activity all. A request fails with a status of 500 or more, for who makes it of 400 or
more.`,
		example: `  etw requests requests-10.nettrace
  etw requests --by endpoint requests-10.nettrace
  etw requests --by activity --top 5 requests-10.nettrace
  etw requests --by status --format md requests-10.nettrace
  etw requests --format json requests-10.nettrace | jq '.processes[0].tasks[0].durationMs.p95'`,
		next: []show.Suggestion{
			show.Next("etw gc", "whether pauses fall into them"),
			show.Next("etw threadpool", "whether they wait for threads"),
			show.Next("etw top", "which code is on the stacks"),
		},
		views: viewsOf(new(requests.Result)),
		Needs: requests.Needs,
		ask: func(mux *etw.Mux) answer {
			a := requests.New(mux)
			if q.by == "activity" {
				a.Keep(math.MaxInt / 2)
			}
			return &viewed[*requests.Result]{find: a.Result, any: anyRequest, facts: requestTotals}
		},
	}
	return q
}

func anyRequest(res *requests.Result) bool {
	return slices.ContainsFunc(res.Processes, func(p *requests.Process) bool { return p.Started+p.Stopped+p.WithoutID > 0 })
}

func requestTotals(p *page, res *requests.Result) {
	if len(res.Processes) > fewRuntimes {
		p.title(fmt.Sprintf("%d processes", len(res.Processes)))
		p.small(viewOf(res, "process", p.names))
		return
	}
	for _, x := range res.Processes {
		p.runtime(x.PID, 0)
		p.line("activities", "%d began, %d ended, of %s", x.Started, x.Stopped, show.Count(len(x.Tasks), "kind", "kinds"))
	}
}
