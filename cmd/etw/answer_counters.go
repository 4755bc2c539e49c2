package main

import (
	"cmp"
	"fmt"
	"maps"
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
		needs: counterNeeds,
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

// A gauge is what a counter, or one quantile of a histogram, said of an
// interval.
type gauge struct {
	atMS  float64
	value quantity.Float
}

// A counterRow is one counter or one time series of a metric, with its values.
type counterRow struct {
	pid                                   int64
	provider, name, tags, unit, of, about string
	points                                []gauge
}

// rows returns the counters and metrics of all processes.
func (a *counterAnswer) rows() []counterRow {
	var list []counterRow
	for _, p := range a.res.Processes {
		for _, c := range p.Counters {
			row := counterRow{pid: p.PID, provider: c.Provider, name: c.Name, tags: c.Metadata, unit: cmp.Or(c.Unit, c.KnownUnit), of: "mean", about: c.Description}
			for _, x := range c.Points {
				value := x.Mean
				if !x.PerSec.IsZero() {
					value, row.of = x.PerSec, "per second"
				}
				row.points = append(row.points, gauge{x.AtMS, value})
			}
			list = append(list, row)
		}
		for _, m := range p.Metrics {
			list = append(list, metricRows(p.PID, &m)...)
		}
	}
	return list
}

// metricRows returns what a time series of a metric is shown as: histograms have
// several values.
func metricRows(pid int64, m *counters.Metric) []counterRow {
	base := counterRow{pid: pid, provider: m.Meter, name: m.Instrument, tags: m.Tags, unit: m.Unit, about: m.Description}
	parts := map[string]*counterRow{}
	var order []string
	add := func(of string, atMS float64, v quantity.Float) {
		if v.IsZero() {
			return
		}
		if parts[of] == nil {
			row := base
			row.of = of
			parts[of] = &row
			order = append(order, of)
		}
		parts[of].points = append(parts[of].points, gauge{atMS, v})
	}
	for _, x := range m.Points {
		add("value", x.AtMS, x.Value)
		add("change", x.AtMS, x.Rate)
		add("count", x.AtMS, x.Count)
		add("sum", x.AtMS, x.Sum)
		for _, q := range slices.Sorted(maps.Keys(x.Quantiles)) {
			add("quantile "+q, x.AtMS, x.Quantiles[q])
		}
	}
	list := make([]counterRow, 0, len(order))
	for _, of := range order {
		list = append(list, *parts[of])
	}
	return list
}

func (a *counterAnswer) table(view string, who *names) *table {
	rows := a.rows()
	slices.SortStableFunc(rows, func(a, b counterRow) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), strings.Compare(a.provider, b.provider))
	})
	provider := label("provider").spared(3)
	var alike likeness
	for _, r := range rows {
		alike.add(r.name, r.provider)
	}
	if alike.clash { // nothing else tells them apart
		provider = label("provider")
	}
	name := []column{label("of"), label("unit"), provider, label("name"), label("tags"), label("about").spared(4)}
	if view == "point" {
		t := newTable(append(append(processColumns(a.several()), moment("atMs"), measured("value", 3)), name...)...)
		for _, r := range rows {
			for _, x := range r.points {
				t.add(append(who.processCells(r.pid), exact(x.atMS), maybe(x.value), r.of, r.unit, r.provider, r.name, r.tags, r.about)...)
			}
		}
		return t
	}
	t := newTable(append(append(processColumns(a.several()), counted("points").spared(4), measured("mean", 3), measured("min", 3).spared(2), measured("max", 3), measured("last", 3).spared(1)), name...)...)
	for _, r := range rows {
		var values []float64
		last := quantity.Float{}
		for _, x := range r.points {
			if v, ok := x.value.Get(); ok {
				values, last = append(values, v), x.value
			}
		}
		s := quantity.Summarize(values)
		t.add(append(who.processCells(r.pid), whole(len(r.points)), maybe(s.Mean), maybe(s.Min), maybe(s.Max), maybe(last), r.of, r.unit, r.provider, r.name, r.tags, r.about)...)
	}
	return t
}
