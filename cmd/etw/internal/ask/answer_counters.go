package ask

import (
	"slices"

	"fmt"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewCounters returns the command that shows counters and metrics.
func NewCounters() *Question {
	return &Question{
		name:  "counters",
		short: "Show counters and metrics over time",
		Long: `Counters shows the event counters of a .NET program and the metrics of its meters. Of
a counter of values the mean of an interval counts, of one that adds up the change per
second, of a histogram the values of its quantiles.

The rows are counters, or with --by point the value of each in each interval.

With -p, --name or --port it is about a live process: on a terminal a table that
changes with each --interval, in the other formats a row for each value. The format
prometheus is that of OpenMetrics, and --listen serves it; counts are summed there
since the command began.`,
		example: `  etw counters counters-10.nettrace
  etw counters --by point --format csv counters-10.nettrace
  etw counters --format json counters-10.nettrace | jq '.processes[0].counters[0].name'
  etw counters -p 1234 --duration 1m --format csv
  etw counters -p 1234 --meters System.Runtime,Microsoft.AspNetCore.Hosting --listen :9100`,
		next:  []show.Suggestion{show.Next("etw gc", "the price of collections"), show.Next("etw requests", "which requests there are")},
		views: viewsOf(new(counters.Result)),
		Needs: counters.Needs,
		ask: func(mux *etw.Mux) answer {
			return &viewed[*counters.Result]{find: counters.New(mux).Result, any: anyCounter, facts: counterTotals}
		},
	}
}

func counterTotals(p *page, res *counters.Result) {
	if len(res.Processes) > fewRuntimes {
		p.title(fmt.Sprintf("%d processes", len(res.Processes)))
		return
	}
	for i := range res.Processes {
		x := &res.Processes[i]
		p.runtime(x.PID, 0)
		p.line("counters", "%d", len(x.Counters))
		p.line("time series", "%d of metrics", len(x.Metrics))
	}
}

// anyCounter reports whether there is a value, or a fault; that the program has instruments is
// neither.
func anyCounter(res *counters.Result) bool {
	return slices.ContainsFunc(res.Processes, func(p counters.Process) bool { return len(p.Counters)+len(p.Metrics)+len(p.Notes) > 0 })
}
