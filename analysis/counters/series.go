package counters

import (
	"cmp"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
)

// A TimeSeries is one number over time: a counter, or one of the numbers of a metric, such
// as a quantile of its histogram.
type TimeSeries struct {
	PID            int64
	Provider, Name string // of a metric its meter and its instrument
	Tags, Unit     string
	// Of says which number it is: mean, per second, value, change, count, sum, or quantile
	// and which.
	Of          string
	Description string
	Points      []TimePoint
}

// A TimePoint is the number of one interval.
type TimePoint struct {
	AtMS  float64 // the end of the interval
	Value measure.Float
	// Values is how many values of the program Value is the mean of, Min and Max those of them,
	// where the trace tells it.
	Values, Min, Max measure.Float
}

// Summary sums up the points that are known: the mean, smallest and largest are of all values of the
// program, where the trace tells how many a point stands for.
func (l *TimeSeries) Summary() measure.Summary {
	var list []float64
	var sum, values float64
	var least, most []float64
	for _, x := range l.Points {
		v, ok := x.Value.Get()
		if !ok {
			continue
		}
		list = append(list, v)
		n := x.Values.Or(1)
		sum, values = sum+v*n, values+n
		least, most = append(least, x.Min.Or(v)), append(most, x.Max.Or(v))
	}
	s := measure.Summarize(list)
	if len(list) > 0 {
		s.Mean, s.Min, s.Max = measure.Ratio(measure.Known(sum), measure.Known(values)), measure.Known(slices.Min(least)), measure.Known(slices.Max(most))
	}
	return s
}

// TimeSeries returns the counters and metrics of all processes, number by number.
func (r *Result) TimeSeries() []TimeSeries {
	var list []TimeSeries
	for i := range r.Processes {
		list = append(list, r.Processes[i].timeSeries()...)
	}
	return list
}

// timeSeries returns the counters and metrics of a process, number by number.
func (p *Process) timeSeries() []TimeSeries {
	var list []TimeSeries
	for _, c := range p.Counters {
		s := TimeSeries{PID: p.PID, Provider: c.Provider, Name: c.Name, Tags: c.Metadata, Unit: cmp.Or(c.Unit, c.KnownUnit), Of: "mean", Description: c.Description}
		for _, x := range c.Points {
			pt := TimePoint{AtMS: x.AtMS, Value: x.Mean, Values: x.Count, Min: x.Min, Max: x.Max}
			if !x.PerSec.IsZero() {
				pt, s.Of = TimePoint{AtMS: x.AtMS, Value: x.PerSec}, "per second"
			}
			s.Points = append(s.Points, pt)
		}
		list = append(list, s)
	}
	for i := range p.Metrics {
		list = append(list, p.Metrics[i].timeSeries(p.PID)...)
	}
	return list
}

// timeSeries returns the numbers of a metric: histograms have several.
func (m *Metric) timeSeries(pid int64) []TimeSeries {
	var list []TimeSeries
	add := func(of string, atMS float64, v measure.Float) {
		if v.IsZero() {
			return
		}
		i := slices.IndexFunc(list, func(s TimeSeries) bool { return s.Of == of })
		if i < 0 {
			i = len(list)
			list = append(list, TimeSeries{PID: pid, Provider: m.Meter, Name: m.Instrument, Tags: m.Tags, Unit: m.Unit, Of: of, Description: m.Description})
			if of == "count" { // of values, which have the unit
				list[i].Unit = ""
			}
		}
		list[i].Points = append(list[i].Points, TimePoint{AtMS: atMS, Value: v})
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
	return list
}
