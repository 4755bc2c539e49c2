package live

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/ask"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// formatPrometheus is a format of live counters alone.
const formatPrometheus = "prometheus"

// metricsName is the name of the EventSource of meters.
const metricsName = "System.Diagnostics.Metrics"

// counterMode holds the flags of live counters.
type counterMode struct {
	live     liveMode
	sources  []string
	meters   []string
	interval time.Duration
	listen   string

	publishing uint64    // the keyword InstrumentPublishing, 0x4, to be told of all instruments
	session    string    // by which our metrics are told from those of others
	begun      time.Time // the session did
}

// WithReadings has the command about counters read those of a live process.
func WithReadings(q *ask.Question) *cobra.Command { return new(counterMode).add(q.Command(), &q.Out) }

// add adds the flags to the command for traces.
func (c *counterMode) add(cmd *cobra.Command, out *show.Output) *cobra.Command {
	f := cmd.Flags()
	f.StringSliceVar(&c.sources, "counters", nil, "of a live process, the event counters of these event `SOURCES`; System.Runtime\nif neither this nor --meters is given")
	f.StringSliceVar(&c.meters, "meters", nil, "of a live process (.NET 6 and later), the metrics of these `METERS`, as NAME\nor NAME\\INSTRUMENT")
	f.DurationVar(&c.interval, "interval", time.Second, "of a live process, how often counters are read: a `TIME` from 100ms on")
	f.StringVar(&c.listen, "listen", "", "of a live process, serve Prometheus at this `ADDRESS`, such as :9100, under\n/metrics")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"counters": cobra.NoFileCompletions, "meters": cobra.NoFileCompletions, "interval": cobra.NoFileCompletions, "listen": cobra.NoFileCompletions,
	})
	c.live.run = func(cmd *cobra.Command, _ *liveMode) error { return c.run(cmd, out) }
	return c.live.add(cmd)
}

// providers returns the providers to enable.
func (c *counterMode) providers() ([]eventpipe.Provider, error) {
	if c.interval < 100*time.Millisecond {
		return nil, cli.Usagef("--interval %v: it is 100ms at least", c.interval)
	}
	seconds := strconv.FormatFloat(c.interval.Seconds(), 'f', -1, 64)
	if len(c.sources)+len(c.meters) == 0 {
		c.sources = []string{"System.Runtime"}
	}
	var list []eventpipe.Provider
	for _, name := range c.sources {
		list = append(list, eventpipe.Provider{Name: name, Level: etw.LevelInformational, Arguments: eventpipe.Arguments("EventCounterIntervalSec", seconds)})
	}
	if len(c.meters) > 0 {
		c.session = fmt.Sprintf("etw-%d-%d", os.Getpid(), time.Now().UnixNano())
		list = append(list, eventpipe.Provider{Name: metricsName, Keywords: 0x2 | c.publishing, Level: etw.LevelInformational, Arguments: eventpipe.Arguments(
			"SessionId", c.session, "Metrics", strings.Join(c.meters, ","), "RefreshInterval", seconds, "MaxTimeSeries", "1000", "MaxHistograms", "20")})
	}
	return list, nil
}

// run shows the counters until the session ends.
func (c *counterMode) run(cmd *cobra.Command, out *show.Output) error {
	prometheus := out.Format == formatPrometheus
	if prometheus {
		out.Format = show.FormatText
	}
	if err := out.Check(cmd); err != nil {
		return err
	}
	providers, err := c.providers()
	if err != nil {
		return err
	}
	p := out.Open(cmd, true)
	view := counterView(&counterRows{pick.NewStream(p, show.Word("time"), show.Word("source"), show.Word("counter"), show.Word("tags"), show.Word("kind"), show.Num("value"), show.Word("unit"))})
	switch {
	case prometheus:
		view = newExposition(p)
	case p.Format == show.FormatText:
		view = &counterTable{p: p}
	}
	var served *exposition
	if c.listen != "" {
		served = newExposition(nil)
		stop, err := served.serve(cmd, c.listen)
		if err != nil {
			return err
		}
		defer stop()
	}
	var mux etw.Mux
	analysis := counters.New(&mux)
	// Sources report an interval at different moments of it.
	var begun, last time.Time
	any := false
	say := func() error {
		readings := c.readings(cmd, analysis.Drain())
		any = any || len(readings) > 0
		if served != nil {
			served.take(readings)
		}
		return view.show(last, readings)
	}
	err = c.live.follow(cmd, providers, func(rec *etw.Record) error {
		at := rec.Time()
		if c.begun.IsZero() {
			c.begun = at.Add(-rec.Elapsed())
		}
		switch {
		case begun.IsZero():
			begun = at
		case at.Sub(begun) > c.interval*9/10:
			begun = at
			if err := say(); err != nil {
				return err
			}
		}
		last = at
		return mux.Dispatch(rec)
	})
	if err == nil {
		err = say()
	}
	if err == nil && !any {
		cli.Report(cmd, fmt.Errorf("no value of %s came in that time", strings.Join(append(c.sources, c.meters...), ", ")))
	}
	return p.Close(view.End(), err)
}

// A counterReading is the value of a counter or a metric in an interval.
type counterReading struct {
	source, name, title, unit, tags string
	at                              time.Time // the end of the interval

	value     quantity.Float // of what has a value now
	rate      quantity.Float // of what adds up, per second
	added     quantity.Float // and in the interval
	quantiles map[string]quantity.Float
	count     quantity.Float // of a histogram, in the interval
	sum       quantity.Float
}

// readings returns the values of our counters, in a fixed order. Of a session that others
// share, points of other intervals are theirs; the first of all is of a moment.
func (c *counterMode) readings(cmd *cobra.Command, res *counters.Result) []counterReading {
	var list []counterReading
	ours := fmt.Sprintf("Interval=%d", c.interval.Milliseconds())
	for _, p := range res.Processes {
		for _, n := range p.Notes {
			fmt.Fprintf(cmd.ErrOrStderr(), "etw: %s: %s\n", cli.Clean(n.Event), cli.Clean(n.Text))
		}
		for _, k := range p.Counters {
			for _, pt := range k.Points {
				if k.Series != "" && k.Series != ours || pt.IntervalSec < c.interval.Seconds()/2 {
					continue
				}
				r := counterReading{source: k.Provider, name: k.Name, title: cmp.Or(k.DisplayName, k.Name), unit: k.Unit, value: pt.Mean, at: c.at(pt.AtMS)}
				if k.Type == "Sum" {
					r.value, r.rate, r.added = quantity.Float{}, pt.PerSec, pt.Increment
				}
				list = append(list, r)
			}
		}
		for _, m := range p.Metrics {
			for _, pt := range m.Points {
				if m.Session == c.session {
					list = append(list, c.metric(m, pt))
				}
			}
		}
	}
	order.Stable(list, func(a, b counterReading) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.name, b.name), cmp.Compare(a.tags, b.tags))
	})
	return list
}

// at is a time that analyses give from the begin of the session on.
func (c *counterMode) at(ms float64) time.Time {
	return c.begun.Add(time.Duration(ms * float64(time.Millisecond)))
}

func (c *counterMode) metric(m counters.Metric, pt counters.MetricPoint) counterReading {
	r := counterReading{source: m.Meter, name: m.Instrument, title: m.Instrument, unit: m.Unit, tags: m.Tags, at: c.at(pt.AtMS)}
	switch {
	case len(pt.Quantiles) > 0 || !pt.Count.IsZero():
		r.quantiles, r.count, r.sum = pt.Quantiles, pt.Count, pt.Sum
	case strings.Contains(m.Type, "Counter") && !m.GoesDown(): // it is called Counter`1
		r.added, r.rate = pt.Rate, quantity.Ratio(pt.Rate, quantity.Known(c.interval.Seconds()))
	default:
		r.value = pt.Value
	}
	return r
}

// isOf reports whether two readings are of one counter.
func (r *counterReading) isOf(o *counterReading) bool {
	return r.source == o.source && r.name == o.name && r.tags == o.tags
}

// A counterView shows the values of counters, interval by interval.
type counterView interface {
	show(at time.Time, readings []counterReading) error
	End() error
}

// shownValues returns the values of a reading, each with its name.
func (r *counterReading) shownValues() (kinds []string, values []quantity.Float) {
	add := func(kind string, v quantity.Float) {
		if _, ok := v.Get(); ok {
			kinds, values = append(kinds, kind), append(values, v)
		}
	}
	add("value", r.value)
	add("perSec", r.rate)
	for _, q := range slices.Sorted(maps.Keys(r.quantiles)) {
		add("q"+q, r.quantiles[q])
	}
	add("count", r.count)
	add("sum", r.sum)
	return kinds, values
}

// counterRows prints a row for each value.
type counterRows struct{ *pick.Stream }

func (v *counterRows) show(_ time.Time, readings []counterReading) error {
	for _, r := range readings {
		kinds, values := r.shownValues()
		for i, kind := range kinds {
			if err := v.Row(etw.FileTimeOf(r.at).String(), r.source, r.name, r.tags, kind, formatNumber(values[i]), r.unit); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatNumber writes a number as it is.
func formatNumber(v quantity.Float) string {
	f, ok := v.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// counterTable shows all counters at once: on a terminal in the place of those before.
type counterTable struct{ p *show.Printer }

// clearScreen puts the cursor at the top and erases the rest below.
const clearScreen = "\x1b[H\x1b[J"

func (v *counterTable) show(at time.Time, readings []counterReading) error {
	if len(readings) == 0 {
		return nil
	}
	if v.p.Screen != nil && !cli.IsDumb() {
		v.p.WriteString(clearScreen)
	}
	fmt.Fprintln(v.p, at.UTC().Format("15:04:05"))
	t := show.NewTable(show.Word("source"), show.Word("counter"), show.Word("tags"), show.Num("value"), show.Word("unit"))
	for n, r := range readings {
		if n+1 < len(readings) && readings[n+1].isOf(&r) { // which is newer
			continue
		}
		kinds, values := r.shownValues()
		for i, kind := range kinds {
			unit := r.unit
			if kind == "perSec" {
				unit = strings.TrimSpace(unit + " /s")
			} else if kind != "value" {
				unit = strings.TrimSpace(kind + " " + unit)
			}
			f, _ := values[i].Get()
			t.Add(r.source, r.title, r.tags, strconv.FormatFloat(f, 'f', 3, 64), unit)
		}
	}
	if err := t.Write(v.p); err != nil {
		return err
	}
	fmt.Fprintln(v.p)
	return v.p.Flush()
}

func (v *counterTable) End() error { return nil }
