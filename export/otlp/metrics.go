package otlp

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/internal/order"
)

// A Metrics is the counters and collections of a trace, as MetricsData.
type Metrics struct {
	// Start is when the trace starts, which the times of results count from.
	Start time.Time
	// Delta has sums count from one point to the next, instead of from the start.
	Delta bool
	// Resource is the source of the metrics; the process is added.
	Resource []Attribute
	// Conventions uses OpenTelemetry's names where it has one: see [Conventional].
	Conventions bool
	// Continue has sums and histograms go on from one call to the next, for analyses
	// that are drained as records come.
	Continue bool

	running map[string]*running
	gcs     map[int64]*processGC
}

// running is the running total.
type running struct {
	sum, from float64
	begun     bool
}

// sum returns the running total of a series.
func (m *Metrics) sum(series string) *running {
	if !m.Continue {
		return new(running)
	}
	r := m.running[series]
	if r == nil {
		if m.running == nil {
			m.running = make(map[string]*running)
		}
		r = new(running)
		m.running[series] = r
	}
	return r
}

// add adds to a sum, and returns it.
func (r *running) add(v, fromMS float64) float64 {
	if !r.begun {
		r.begun, r.from = true, fromMS
	}
	r.sum += v
	return r.sum
}

// nanos returns the time that a result gives, since 1970.
func (m *Metrics) nanos(atMS float64) int64 { return m.Start.UnixNano() + int64(atMS*1e6) }

// process begins the metrics of a process, which the resource may be of already.
func (m *Metrics) process(b []byte, pid int64) []byte {
	list := slices.Clone(m.Resource)
	if !slices.ContainsFunc(list, func(a Attribute) bool { return a.Key == processKey }) {
		list = append(list, Attribute{processKey, pid})
	}
	b = append(b, `{"resourceMetrics":[`...)
	b = appendResource(b, list)
	return append(b, `,"scopeMetrics":[`...)
}

const processKey = "process.pid"

// A family is one metric with its points.
type family struct {
	scope, version, name, unit, about, kind string
	monotonic                               bool
	absolute                                bool // it never counts from one point to the next
	delta                                   bool // of an exponential histogram
	points                                  [][]byte
}

// AppendCounters appends the values of counters, a line for each process.
func (m *Metrics) AppendCounters(b []byte, res *counters.Result) []byte {
	for i := range res.Processes {
		p := &res.Processes[i]
		var list []*family
		for j := range p.Counters {
			list = m.counter(list, p.PID, &p.Counters[j])
		}
		for j := range p.Metrics {
			list = m.metric(list, p.PID, &p.Metrics[j])
		}
		if len(list) > 0 {
			b = append(m.families(m.process(b, p.PID), list), "]}]}\n"...)
		}
	}
	return b
}

// families appends metrics by their scopes.
func (m *Metrics) families(b []byte, list []*family) []byte {
	order.Stable(list, func(a, b *family) int { return strings.Compare(a.scope, b.scope) })
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
		if m.Delta && f.kind == "sum" && !f.absolute || f.delta {
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
	return m.pointWith(fromMS, atMS, attributesOf(tags))
}

func (m *Metrics) pointWith(fromMS, atMS float64, list []Attribute) []byte {
	b := appendNanos([]byte{'{'}, "timeUnixNano", m.nanos(atMS))
	b = appendNanos(append(b, ','), "startTimeUnixNano", m.nanos(fromMS))
	return appendAttributes(append(b, ','), list)
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
func (m *Metrics) counter(list []*family, pid int64, c *counters.Counter) []*family {
	like := family{scope: c.Provider, name: c.Provider + "." + c.Name, unit: c.Unit, about: c.Description, kind: "gauge"}
	like.unit = cmp.Or(like.unit, c.KnownUnit)
	if c.Type == "Sum" {
		like.kind, like.monotonic = "sum", true
	}
	as := m.conventional(c, &like)
	if len(c.Points) == 0 {
		return list
	}
	list, f := find(list, like)
	total := m.sum(strings.Join([]string{strconv.FormatInt(pid, 10), c.Provider, c.Name, c.Series, c.Metadata}, "\x00"))
	for i := range c.Points {
		p := &c.Points[i]
		begin := p.AtMS - p.IntervalSec*1000
		v, ok := p.Mean.Get()
		if c.Type == "Sum" {
			if v, ok = p.Increment.Get(); ok && !m.Delta {
				v, begin = total.add(v, begin), total.from
			}
		}
		if ok {
			f.points = append(f.points, number(m.pointWith(begin, p.AtMS, as.attributes(c.Metadata)), as.scaled(v)))
		}
	}
	return list
}

// metric adds the points of a time series of an instrument.
func (m *Metrics) metric(list []*family, pid int64, x *counters.Metric) []*family {
	base := family{scope: x.Meter, version: x.MeterVersion, name: x.Instrument, unit: x.Unit, about: x.Description}
	tags, upDown := x.Tags, x.GoesDown()
	if m.Conventions {
		tags = conventionalTags(tags)
	}
	total := m.sum(strings.Join([]string{strconv.FormatInt(pid, 10), x.Session, x.Meter, x.MeterVersion, x.Instrument, x.Tags}, "\x01"))
	for i := range x.Points {
		p := &x.Points[i]
		like := base
		rate, isSum := p.Rate.Get()
		value, hasValue := p.Value.Get()
		_, isHistogram := p.Count.Get()
		spread, isExponential := p.Exponential()
		isSum = isSum || hasValue && strings.Contains(x.Type, "Counter") // the first one has no rate
		begin := p.AtMS
		if m.Delta || x.Deltas {
			begin = 0 // there was none before
		}
		total.add(0, begin)
		from := total.from
		var f *family
		switch {
		case isExponential:
			like.kind, like.delta = "exponentialHistogram", x.Deltas
			list, f = find(list, like)
			f.points = append(f.points, exponential(m.point(from, p.AtMS, tags), &spread))
		case isHistogram:
			like.kind, like.name = "summary", base.name+".summary"
			list, f = find(list, like)
			f.points = append(f.points, summary(m.point(from, p.AtMS, tags), p))
		case isSum:
			like.kind, like.monotonic = "sum", !upDown
			like.absolute = m.Conventions && upDown
			list, f = find(list, like)
			v := total.add(rate, p.AtMS)
			if m.Delta && !like.absolute {
				v = rate
			} else if hasValue {
				v = value
			}
			f.points = append(f.points, number(m.point(from, p.AtMS, tags), v))
		case hasValue:
			like.kind = "gauge"
			list, f = find(list, like)
			f.points = append(f.points, number(m.point(from, p.AtMS, tags), value))
		}
		if m.Delta && !isExponential || x.Deltas {
			total.from = p.AtMS
		}
	}
	return list
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
