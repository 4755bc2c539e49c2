// Package counters follows the event counters and the metrics of a .NET program over time.
// Use it for figures that are measured all the time, such as the rate of requests or the
// size of the heap.
//
// A counter is switched on with its EventSource and the argument
// EventCounterIntervalSec; metrics with the provider System.Diagnostics.Metrics,
// keyword 0x2, and the arguments SessionId and Metrics.
//
// Counters are not events of known ids: they are recognized by the descriptions that
// traces have of them, among the records that no other handler of a [etw.Mux] takes.
package counters

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	known "github.com/etwgen/etwgen/generated/dotnet/counters"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows counters and metrics.
type Analysis struct {
	processes lives.Table[state]
	fields    dyn.Reader
}

type state struct {
	counters map[counterKey]*Counter
	metrics  map[metricKey]*Metric
	// about has the description of an instrument when its reporting begins.
	about     map[metricKey]*Metric
	notes     []Note
	published []string

	histograms map[metricKey]Exponential // the last ones
	deltas     map[string]bool           // sessions whose histograms are each of one interval
}

type counterKey struct{ provider, name, series string }

type metricKey struct {
	session, meter, instrument, tags string
	id                               int64
}

// maxNotes bounds the notes, which repeat.
const maxNotes = 100

// Needs are the counters of the runtime each second, and its metrics.
var Needs = []need.Need{
	{What: "counters", Provider: "System.Runtime", Level: etw.LevelInformational, Args: "EventCounterIntervalSec=1"},
	{What: "metrics", Provider: metricsProvider, Keywords: 0x2, Names: "TimeSeriesValues", Level: etw.LevelInformational,
		Args: "SessionId=1;Metrics=System.Runtime;RefreshInterval=1;MaxTimeSeries=1000;MaxHistograms=20"},
}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{}
	mux.HandleRest(a.record)
	return a
}

// metricsProvider is the name of the EventSource of metrics.
const metricsProvider = "System.Diagnostics.Metrics"

// record takes a record, whatever it is. It returns nil.
func (a *Analysis) record(r *etw.Record) error {
	switch {
	case r.Schema == nil:
	case r.Schema.Name == "EventCounters":
		a.counter(r)
	case r.ProviderName == metricsProvider:
		a.metric(r)
	}
	return nil
}

// counter takes the values of an event counter, which are in a struct.
func (a *Analysis) counter(r *etw.Record) {
	if !a.fields.Read(r) {
		return
	}
	v := a.fields.First()
	if inner := dyn.Member(v, "Payload"); inner.Kind() == etw.ValueStruct {
		v = inner
	}
	name := dyn.Member(v, "Name").Text()
	if name == "" {
		return
	}
	p := a.processes.At(r, 0)
	s := &p.State
	k := counterKey{r.ProviderName, name, dyn.Member(v, "Series").Text()}
	c := s.counters[k]
	if c == nil {
		c = &Counter{Provider: k.provider, Name: name, Series: k.series,
			DisplayName: dyn.Member(v, "DisplayName").Text(), Unit: dyn.Member(v, "DisplayUnits").Text(),
			Type: dyn.Member(v, "CounterType").Text(), Metadata: dyn.Member(v, "Metadata").Text()}
		info, _ := known.Counter(k.provider, name)
		if c.Description = info.Description; c.Unit == "" {
			c.KnownUnit = info.Unit
		}
		if s.counters == nil {
			s.counters = make(map[counterKey]*Counter)
		}
		s.counters[k] = c
	}
	number := func(name string) measure.Float { return dyn.Float(dyn.Member(v, name)) }
	pt := Point{AtMS: p.At(p.Now), IntervalSec: number("IntervalSec").Or(0), Mean: number("Mean"), StdDev: number("StandardDeviation"),
		Count: number("Count"), Min: number("Min"), Max: number("Max"), Increment: number("Increment")}
	if n, ok := pt.Count.Get(); ok && n == 0 { // there were no values: the runtime writes zeros
		pt.Mean, pt.StdDev, pt.Min, pt.Max = measure.Float{}, measure.Float{}, measure.Float{}, measure.Float{}
	}
	pt.PerSec = measure.Ratio(pt.Increment, measure.Known(pt.IntervalSec))
	c.Points = append(c.Points, pt)
}

// metric takes an event of System.Diagnostics.Metrics.
func (a *Analysis) metric(r *etw.Record) {
	if !a.fields.Read(r) {
		return
	}
	p := a.processes.At(r, 0)
	s, f := &p.State, &a.fields
	pt := MetricPoint{AtMS: p.At(p.Now)}
	switch r.Schema.Name {
	case "BeginInstrumentReporting":
		s.begin(f)
		return
	case "InstrumentPublished":
		s.publish(f.Text("meterName") + "/" + f.Text("instrumentName"))
		return
	case "TimeSeriesLimitReached", "HistogramLimitReached", "Error", "ObservableInstrumentCallbackError", "MultipleSessionsNotSupportedError", "MultipleSessionsConfiguredIncorrectlyError":
		if len(s.notes) < maxNotes {
			_, text := f.FirstText()
			if message := f.Text("errorMessage"); message != "" {
				text = message
			}
			s.notes = append(s.notes, Note{pt.AtMS, r.Schema.Name, text})
		}
		return
	case "CounterRateValuePublished", "UpDownCounterRateValuePublished":
		pt.Rate, pt.Value = f.Float("rate"), f.Float("value")
	case "GaugeValuePublished":
		pt.Value = f.Float("lastValue")
	case "HistogramValuePublished":
		pt.Count, pt.Sum, pt.Quantiles = f.Float("count"), f.Float("sum"), quantiles(f.Text("quantiles"))
	case "Base2ExponentialHistogramValuePublished":
		pt.Count, pt.Sum, pt.Scale, pt.ZeroCount = f.Float("count"), f.Float("sum"), f.Float("scale"), f.Float("zeroCount")
		pt.Min, pt.Max, pt.Buckets = f.Float("minimum"), f.Float("maximum"), f.Text("buckets")
	default:
		return
	}
	m := s.series(f)
	if m.Type == "" && r.Schema.Name == "UpDownCounterRateValuePublished" {
		m.Type = upDown
	}
	e, isExponential := pt.Exponential()
	if isExponential {
		pt.Quantiles = e.quantiles()
	}
	m.Points = append(m.Points, pt)
	if isExponential {
		s.histogram(key(f, m.Tags), e)
	}
}

// histogram takes a histogram of a series, and finds out whether those of its session go
// on from one to the next, or are each of one interval, which the trace does not say.
func (s *state) histogram(k metricKey, e Exponential) {
	if s.histograms == nil {
		s.histograms, s.deltas = make(map[metricKey]Exponential), make(map[string]bool)
	}
	if before, ok := s.histograms[k]; ok && !s.deltas[k.session] && !e.follows(before) {
		s.deltas[k.session] = true
	}
	s.histograms[k] = e
}

// key returns the identity of the instrument that the fields are of.
func key(f *dyn.Reader, tags string) metricKey {
	return metricKey{f.Text("sessionId"), f.Text("meterName"), f.Text("instrumentName"), tags, int64(f.Float("instrumentId").Or(0))}
}

// publish takes an instrument that a program has, whether or not anybody asked for its values.
func (s *state) publish(name string) {
	if len(s.published) < maxPublished && !slices.Contains(s.published, name) {
		s.published = append(s.published, name)
	}
}

// maxPublished is how many instruments of a process are listed.
const maxPublished = 1000

// begin notes the description of an instrument.
func (s *state) begin(f *dyn.Reader) {
	if s.about == nil {
		s.about = make(map[metricKey]*Metric)
	}
	s.about[key(f, "")] = &Metric{Type: f.Text("instrumentType"), Description: f.Text("description"), Unit: f.Text("unit")}
}

// series returns the time series that the fields are of.
func (s *state) series(f *dyn.Reader) *Metric {
	k := key(f, f.Text("tags"))
	m := s.metrics[k]
	if m != nil {
		return m
	}
	m = &Metric{Session: k.session, Meter: k.meter, MeterVersion: f.Text("meterVersion"), Instrument: k.instrument,
		ID: k.id, Unit: f.Text("unit"), Tags: k.tags}
	if about := s.about[key(f, "")]; about != nil {
		m.Type, m.Description = about.Type, about.Description
	}
	info, _ := known.Instrument(k.meter, k.instrument)
	m.Unit, m.Description = cmp.Or(m.Unit, info.Unit), cmp.Or(m.Description, info.Description)
	if s.metrics == nil {
		s.metrics = make(map[metricKey]*Metric)
	}
	s.metrics[k] = m
	return m
}

// quantiles reads a list such as 0.5=1;0.95=2.
func quantiles(text string) map[string]measure.Float {
	if text == "" {
		return nil
	}
	m := make(map[string]measure.Float)
	for pair := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(pair, "=")
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			m[name] = measure.Known(v)
		}
	}
	return m
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Processes: []Process{}}
	for _, p := range a.processes.All() {
		out := Process{PID: p.PID, Life: p.Life, Counters: []Counter{}, Metrics: []Metric{}, Notes: slices.Clone(p.State.notes), Published: slices.Clone(p.State.published)}
		for _, c := range p.State.counters {
			row := *c
			row.Points = slices.Clone(c.Points)
			out.Counters = append(out.Counters, row)
		}
		for _, m := range p.State.metrics {
			row := *m
			row.Points = slices.Clone(m.Points)
			row.Deltas = p.State.deltas[m.Session]
			out.Metrics = append(out.Metrics, row)
		}
		order.Sort(out.Counters, func(a, b Counter) int {
			return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Series, b.Series))
		})
		order.Sort(out.Metrics, func(a, b Metric) int {
			return cmp.Or(cmp.Compare(a.Meter, b.Meter), cmp.Compare(a.Instrument, b.Instrument), cmp.Compare(a.Tags, b.Tags),
				cmp.Compare(a.Session, b.Session), cmp.Compare(a.ID, b.ID))
		})
		if len(out.Counters)+len(out.Metrics)+len(out.Notes)+len(out.Published) > 0 {
			res.Processes = append(res.Processes, out)
		}
	}
	return res
}
