package otlp

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
)

// A Metrics is what counters and collections of a trace say, as MetricsData.
type Metrics struct {
	// Start is when the trace starts, which the times of results count from.
	Start time.Time
	// Delta has sums count from one point to the next, instead of from the start.
	Delta bool
	// Resource says what the metrics are of; the process is added.
	Resource []Attribute
}

// nanos returns the time that a result gives, since 1970.
func (m *Metrics) nanos(atMS float64) int64 { return m.Start.UnixNano() + int64(atMS*1e6) }

// process begins the metrics of a process.
func (m *Metrics) process(b []byte, pid int64) []byte {
	b = append(b, `{"resourceMetrics":[`...)
	b = appendResource(b, append(slices.Clip(slices.Clone(m.Resource)), Attribute{"process.pid", pid}))
	return append(b, `,"scopeMetrics":[`...)
}

// A family is one metric with its points.
type family struct {
	scope, version, name, unit, about, kind string
	monotonic                               bool
	delta                                   bool // of an exponential histogram
	points                                  [][]byte
}

// AppendCounters appends what counters said, a line for each process.
func (m *Metrics) AppendCounters(b []byte, res *counters.Result) []byte {
	for i := range res.Processes {
		p := &res.Processes[i]
		var list []*family
		for j := range p.Counters {
			list = m.counter(list, &p.Counters[j])
		}
		for j := range p.Metrics {
			list = m.metric(list, &p.Metrics[j])
		}
		if len(list) > 0 {
			b = append(m.families(m.process(b, p.PID), list), "]}]}\n"...)
		}
	}
	return b
}

// families appends metrics by their scopes.
func (m *Metrics) families(b []byte, list []*family) []byte {
	slices.SortStableFunc(list, func(a, b *family) int { return strings.Compare(a.scope, b.scope) })
	for i, f := range list {
		if i == 0 || f.scope != list[i-1].scope {
			if i > 0 {
				b = append(b, "]},"...)
			}
			b = appendString(append(b, `{"scope":{"name":`...), f.scope)
			if f.version != "" {
				b = appendString(append(b, `,"version":`...), f.version)
			}
			b = append(b, `},"metrics":[`...)
		} else {
			b = append(b, ',')
		}
		b = m.family(b, f)
	}
	return append(b, "]}"...)
}

func (m *Metrics) family(b []byte, f *family) []byte {
	b = appendString(append(b, `{"name":`...), f.name)
	b = appendString(append(b, `,"unit":`...), f.unit)
	if f.about != "" {
		b = appendString(append(b, `,"description":`...), f.about)
	}
	b = append(b, ',', '"')
	b = append(append(b, f.kind...), `":{`...)
	if f.kind == "sum" || f.kind == "histogram" || f.kind == "exponentialHistogram" {
		temporality := 2
		if m.Delta && f.kind == "sum" || f.delta {
			temporality = 1
		}
		b = strconv.AppendInt(append(b, `"aggregationTemporality":`...), int64(temporality), 10)
		b = append(b, ',')
	}
	if f.monotonic {
		b = append(b, `"isMonotonic":true,`...)
	}
	b = append(b, `"dataPoints":[`...)
	for i, p := range f.points {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, p...)
	}
	return append(b, "]}}"...)
}

// point begins a point.
func (m *Metrics) point(fromMS, atMS float64, tags string) []byte {
	b := appendNanos([]byte{'{'}, "timeUnixNano", m.nanos(atMS))
	b = appendNanos(append(b, ','), "startTimeUnixNano", m.nanos(fromMS))
	return appendAttributes(append(b, ','), attributesOf(tags))
}

// attributesOf returns tags such as a=b,c=d as attributes.
func attributesOf(tags string) (list []Attribute) {
	if tags == "" {
		return nil
	}
	for pair := range strings.SplitSeq(tags, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if !slices.ContainsFunc(list, func(a Attribute) bool { return a.Key == key }) {
			list = append(list, Attribute{key, value})
		}
	}
	return list
}

func number(b []byte, v float64) []byte {
	return append(appendNumber(append(b, `,"asDouble":`...), v), '}')
}

// find returns the metric of a name, which is new if none of the list is.
func find(list []*family, like family) ([]*family, *family) {
	for _, f := range list {
		if f.scope == like.scope && f.name == like.name && f.kind == like.kind && f.delta == like.delta {
			return list, f
		}
	}
	return append(list, &like), &like
}

// counter adds the points of an event counter.
func (m *Metrics) counter(list []*family, c *counters.Counter) []*family {
	like := family{scope: c.Provider, name: c.Provider + "." + c.Name, unit: c.Unit, about: c.Description, kind: "gauge"}
	if like.unit == "" {
		like.unit = c.KnownUnit
	}
	if c.Type == "Sum" {
		like.kind, like.monotonic = "sum", true
	}
	list, f := find(list, like)
	sum, from := 0.0, 0.0
	for i := range c.Points {
		p := &c.Points[i]
		begin := p.AtMS - p.IntervalSec*1000
		if i == 0 {
			from = begin
		}
		v, ok := p.Mean.Get()
		if f.kind == "sum" {
			if v, ok = p.Increment.Get(); ok && !m.Delta {
				sum += v
				v, begin = sum, from
			}
		}
		if ok {
			f.points = append(f.points, number(m.point(begin, p.AtMS, c.Metadata), v))
		}
	}
	return list
}

// metric adds the points of a time series of an instrument.
func (m *Metrics) metric(list []*family, x *counters.Metric) []*family {
	base := family{scope: x.Meter, version: x.MeterVersion, name: x.Instrument, unit: x.Unit, about: x.Description}
	sum, first := 0.0, true
	from := 0.0
	for i := range x.Points {
		p := &x.Points[i]
		if first {
			from, first = p.AtMS, false
		}
		like := base
		rate, isSum := p.Rate.Get()
		value, hasValue := p.Value.Get()
		_, isHistogram := p.Count.Get()
		spread, isExponential := p.Exponential()
		var f *family
		switch {
		case isExponential:
			like.kind, like.delta = "exponentialHistogram", x.Deltas
			list, f = find(list, like)
			f.points = append(f.points, exponential(m.point(from, p.AtMS, x.Tags), &spread))
		case isHistogram:
			like.kind, like.name = "summary", base.name+".summary"
			list, f = find(list, like)
			f.points = append(f.points, summary(m.point(from, p.AtMS, x.Tags), p))
		case isSum:
			like.kind, like.monotonic = "sum", !strings.Contains(x.Type, "UpDown")
			list, f = find(list, like)
			sum += rate
			v := sum
			if m.Delta {
				v = rate
			} else if hasValue {
				v = value
			}
			f.points = append(f.points, number(m.point(from, p.AtMS, x.Tags), v))
		case hasValue:
			like.kind = "gauge"
			list, f = find(list, like)
			f.points = append(f.points, number(m.point(from, p.AtMS, x.Tags), value))
		}
		if m.Delta && !isExponential || x.Deltas {
			from = p.AtMS
		}
	}
	return list
}

// exponential appends an exponential histogram.
func exponential(b []byte, e *counters.Exponential) []byte {
	b = strconv.AppendUint(append(b, `,"count":"`...), e.Count, 10)
	b = appendNumber(append(b, `","sum":`...), e.Sum)
	b = strconv.AppendInt(append(b, `,"scale":`...), int64(e.Scale), 10)
	b = strconv.AppendUint(append(b, `,"zeroCount":"`...), e.Zero, 10)
	b = strconv.AppendInt(append(b, `","positive":{"offset":`...), int64(e.Offset), 10)
	b = append(b, `,"bucketCounts":[`...)
	for i, n := range e.Counts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendUint(append(b, '"'), n, 10), '"')
	}
	b = append(b, "]}"...)
	if e.Count > 0 {
		b = appendNumber(append(b, `,"min":`...), e.Min)
		b = appendNumber(append(b, `,"max":`...), e.Max)
	}
	return append(b, '}')
}

// summary appends the quantiles of a histogram.
func summary(b []byte, p *counters.MetricPoint) []byte {
	b = append(b, `,"count":"`...)
	b = strconv.AppendInt(b, int64(p.Count.Or(0)), 10)
	b = appendNumber(append(b, `","sum":`...), p.Sum.Or(0))
	b = append(b, `,"quantileValues":[`...)
	n := 0
	for _, q := range slices.Sorted(maps.Keys(p.Quantiles)) {
		of, err := strconv.ParseFloat(q, 64)
		v, ok := p.Quantiles[q].Get()
		if err != nil || !ok {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = appendNumber(append(b, `{"quantile":`...), of)
		b = append(appendNumber(append(b, `,"value":`...), v), '}')
	}
	return append(b, "]}"...)
}

// pauseBounds are those of the buckets of pauses, in seconds.
var pauseBounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// A pauseKey is what tells collections apart.
type pauseKey struct {
	generation   gc.Generation
	kind, reason string
}

// pauses are those of alike collections.
type pauses struct {
	buckets []int64
	count   int64
	sum     float64
	last    float64
}

// AppendGC appends the pauses for collections, a line for each runtime.
func (m *Metrics) AppendGC(b []byte, res *gc.Result) []byte {
	for _, rt := range res.Runtimes {
		found := make(map[pauseKey]*pauses)
		var order []pauseKey
		for i := range rt.GCs {
			c := rt.GCs[i]
			ms, ok := c.PauseMS.Get()
			if !ok {
				continue
			}
			k := pauseKey{c.Generation, string(c.Kind), c.Reason}
			p := found[k]
			if p == nil {
				p = &pauses{buckets: make([]int64, len(pauseBounds)+1)}
				found[k] = p
				order = append(order, k)
			}
			at, _ := slices.BinarySearch(pauseBounds, ms/1000)
			p.buckets[at]++
			p.count++
			p.sum += ms / 1000
			p.last = max(p.last, c.StartMS+ms)
		}
		if len(order) == 0 {
			continue
		}
		f := &family{scope: "etwgen", name: "etwgen.dotnet.gc.pause.duration", unit: "s", about: "how long threads were stopped for a collection", kind: "histogram"}
		for _, k := range order {
			f.points = append(f.points, m.histogram(rt.FirstMS, k, found[k]))
		}
		b = append(m.families(m.process(b, rt.PID), []*family{f}), "]}]}\n"...)
	}
	return b
}

// histogram returns the point of alike collections.
func (m *Metrics) histogram(fromMS float64, k pauseKey, p *pauses) []byte {
	b := appendNanos([]byte{'{'}, "timeUnixNano", m.nanos(p.last))
	b = appendNanos(append(b, ','), "startTimeUnixNano", m.nanos(fromMS))
	var list []Attribute
	if k.generation >= 0 {
		list = append(list, Attribute{"dotnet.gc.heap.generation", "gen" + strconv.Itoa(int(k.generation))})
	}
	list = append(list, Attribute{"etwgen.gc.type", k.kind}, Attribute{"etwgen.gc.reason", k.reason})
	b = appendAttributes(append(b, ','), list)
	b = strconv.AppendInt(append(b, `,"count":"`...), p.count, 10)
	b = appendNumber(append(b, `","sum":`...), p.sum)
	b = append(b, `,"bucketCounts":[`...)
	for i, n := range p.buckets {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '"'), n, 10)
		b = append(b, '"')
	}
	b = append(b, `],"explicitBounds":[`...)
	for i, v := range pauseBounds {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, "]}"...)
}
