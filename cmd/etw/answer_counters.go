package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newCounters returns the command that shows counters and metrics.
func newCounters() *cobra.Command {
	q := &question{
		name:  "counters",
		short: "Show what counters and metrics said over time",
		long: `Counters shows the event counters of a .NET program and the metrics of its meters. Of
a counter of values the mean of an interval counts, of one that adds up the change per
second, of a histogram the values of its quantiles.

The rows are counters, or with --by point what each said of each interval.

With -p, --name or --port it is about a live process: on a terminal a table that
changes with each --interval, in the other formats a row for each value. The format
prometheus is that of OpenMetrics, and --listen serves it; what adds up is summed there
since the command began.`,
		example: `  etw counters counters-10.nettrace
  etw counters --by point --format csv counters-10.nettrace
  etw counters --format json counters-10.nettrace | jq '.processes[0].counters[0].name'
  etw counters -p 1234 --duration 1m --format csv
  etw counters -p 1234 --meters System.Runtime,Microsoft.AspNetCore.Hosting --listen :9100`,
		views: []string{"counter", "point"},
		needs: counters.Needs,
		ask: func(mux *etw.Mux) answer {
			return &counterAnswer{analysis: counters.New(mux)}
		},
	}
	return new(counterMode).add(q.command(), &q.out)
}

type counterAnswer struct {
	analysis *counters.Analysis
	res      *counters.Result
}

func (a *counterAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Processes) > 0
}

func (a *counterAnswer) result() any        { return a.res }
func (a *counterAnswer) warnings() []string { return a.res.Warnings() }
func (a *counterAnswer) several() bool      { return len(a.res.Processes) > 1 }

func (a *counterAnswer) totals(p *page) {
	if len(a.res.Processes) > fewRuntimes {
		p.title(fmt.Sprintf("%d processes", len(a.res.Processes)))
		return
	}
	for i := range a.res.Processes {
		x := &a.res.Processes[i]
		p.runtime(x.PID, 0)
		p.line("counters", "%d", len(x.Counters))
		p.line("time series", "%d of metrics", len(x.Metrics))
	}
}

func (a *counterAnswer) table(view string, who *names) *table {
	rows := a.res.TimeSeries()
	slices.SortStableFunc(rows, func(a, b counters.TimeSeries) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), strings.Compare(a.Provider, b.Provider))
	})
	provider := label("provider").spared(3)
	var alike likeness
	for _, r := range rows {
		alike.add(r.Name, r.Provider)
	}
	if alike.clash { // nothing else tells them apart
		provider = label("provider")
	}
	name := []column{label("of"), label("unit"), provider, label("name"), label("tags"), label("about").spared(4)}
	if view == "point" {
		t := newTable(append(append(processColumns(a.several()), moment("atMs"), measured("value", 3)), name...)...)
		for _, r := range rows {
			for _, x := range r.Points {
				t.add(append(who.processCells(r.PID), exact(x.AtMS), maybe(x.Value), r.Of, r.Unit, r.Provider, r.Name, r.Tags, r.Description)...)
			}
		}
		return t
	}
	t := newTable(append(append(processColumns(a.several()), counted("points").spared(4), measured("mean", 3), measured("min", 3).spared(2), measured("max", 3), measured("last", 3).spared(1)), name...)...)
	for _, r := range rows {
		var values []float64
		last := quantity.Float{}
		for _, x := range r.Points {
			if v, ok := x.Value.Get(); ok {
				values, last = append(values, v), x.Value
			}
		}
		s := quantity.Summarize(values)
		t.add(append(who.processCells(r.PID), whole(len(r.Points)), maybe(s.Mean), maybe(s.Min), maybe(s.Max), maybe(last), r.Of, r.Unit, r.Provider, r.Name, r.Tags, r.Description)...)
	}
	return t
}
