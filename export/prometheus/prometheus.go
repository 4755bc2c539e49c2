// Package prometheus writes the counters and metrics of a trace in the text formats of
// Prometheus. The textfile collector of its node exporter wants the last values and no
// times; OpenMetrics has all values with their times, from which promtool makes blocks of
// history. Use it where Prometheus keeps the metrics of a system.
//
// The name of a counter is that of its source and its own, in letters, digits and lines;
// names of counters end in _total. Labels are the process and the tags. Exponential
// histograms become histograms, whose buckets are those of all the values that the trace has
// of one set of labels.
package prometheus

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/internal/order"
)

// Options say how metrics are written.
type Options struct {
	// OpenMetrics writes that format, in place of the older one.
	OpenMetrics bool
	// History writes all values with their times. Otherwise there are the last ones.
	History bool
	// Start is when the trace starts, which the times of results count from.
	Start time.Time
}

// A family is the set of metrics under one name of Prometheus.
type family struct {
	name, kind, help string
	series           []*series
	index            map[string]*series
}

// A series is the values of one set of labels. The suffix is of the name.
type series struct {
	suffix, labels string
	bound          float64 // of a bucket
	points         []point
}

type point struct{ atMS, value float64 }

// A collection has the families of all processes.
type collection struct {
	families map[string]*family
	taken    map[string]*family // by the names of their series
	history  bool
}

// Write writes the values of counters.
func Write(w io.Writer, res *counters.Result, o Options) error {
	c := collection{families: make(map[string]*family), taken: make(map[string]*family), history: o.History}
	for i := range res.Processes {
		p := &res.Processes[i]
		pid := strconv.FormatInt(p.PID, 10)
		for j := range p.Counters {
			c.counter(pid, &p.Counters[j])
		}
		for j := range p.Metrics {
			c.metric(pid, &p.Metrics[j])
		}
	}
	out := bufio.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(c.families)) {
		c.families[name].write(out, &o)
	}
	if o.OpenMetrics {
		out.WriteString("# EOF\n")
	}
	return out.Flush()
}

// suffixes are those of the series that a kind has.
var suffixes = map[string][]string{"gauge": {""}, "counter": {"", "_total"}, "summary": {"", "_count", "_sum"}, "histogram": {"", "_bucket", "_count", "_sum"}}

// family returns the family of a name. One name has one kind: a metric of another one, or
// with series of the same names, gets a name of its own.
func (c *collection) family(name, kind, help string) *family {
	for {
		if f := c.families[name]; f != nil && f.kind == kind {
			return f
		}
		if !slices.ContainsFunc(suffixes[kind], func(s string) bool { return c.taken[name+s] != nil }) {
			break
		}
		name += "_" + kind
	}
	f := &family{name: name, kind: kind, help: strings.ToValidUTF8(help, "\ufffd"), index: make(map[string]*series)}
	c.families[name] = f
	for _, s := range suffixes[kind] {
		c.taken[name+s] = f
	}
	return f
}

// add adds a value to a series.
func (f *family) add(history bool, suffix, labels string, at, value float64) *series {
	s := f.index[suffix+labels]
	if s == nil {
		s = &series{suffix: suffix, labels: labels}
		f.index[suffix+labels] = s
		f.series = append(f.series, s)
	}
	n := len(s.points)
	switch {
	case n > 0 && (!history || s.points[n-1].atMS >= at): // times must grow
		s.points[n-1].value = value
	default:
		s.points = append(s.points, point{at, value})
	}
	return s
}

func (c *collection) counter(pid string, x *counters.Counter) {
	labels := labelsOf(pid, x.Metadata)
	name := Name(x.Provider, x.Name)
	help := strings.TrimSpace(cmp.Or(x.Description, x.DisplayName) + " " + cmp.Or(x.Unit, x.KnownUnit))
	sum := 0.0
	for i := range x.Points {
		p := &x.Points[i]
		if x.Type != "Sum" {
			if v, ok := p.Mean.Get(); ok {
				c.family(name, "gauge", help).add(c.history, "", labels, p.AtMS, v)
			}
		} else if v, ok := p.Increment.Get(); ok {
			sum += v
			c.family(name, "counter", help).add(c.history, "_total", labels, p.AtMS, sum)
		}
	}
}

func (c *collection) metric(pid string, x *counters.Metric) {
	labels := labelsOf(pid, x.Tags)
	name := Name(x.Meter, x.Instrument)
	help := strings.TrimSpace(x.Description + " " + x.Unit)
	c.histogram(name, help, labels, x)
	sum, count, total := 0.0, 0.0, 0.0
	for i := range x.Points {
		p := &x.Points[i]
		rate, isSum := p.Rate.Get()
		value, hasValue := p.Value.Get()
		n, isSummary := p.Count.Get()
		_, isHistogram := p.Exponential()
		switch {
		case isHistogram:
		case isSummary:
			count, total = count+n, total+p.Sum.Or(0)
			f := c.family(name, "summary", help)
			for _, q := range slices.Sorted(maps.Keys(p.Quantiles)) {
				_, err := strconv.ParseFloat(q, 64)
				if v, ok := p.Quantiles[q].Get(); ok && err == nil {
					f.add(c.history, "", withLabel(labels, "quantile", q), p.AtMS, v)
				}
			}
			f.add(c.history, "_count", labels, p.AtMS, count)
			f.add(c.history, "_sum", labels, p.AtMS, total)
		case isSum && x.GoesDown(), !isSum && hasValue:
			if sum += rate; hasValue {
				sum = value
			}
			c.family(name, "gauge", help).add(c.history, "", labels, p.AtMS, sum)
		case isSum:
			if sum += rate; hasValue {
				sum = value
			}
			c.family(name, "counter", help).add(c.history, "_total", labels, p.AtMS, sum)
		}
	}
}

// write writes the family. In the older format the name of a counter has its suffix
// everywhere.
func (f *family) write(w *bufio.Writer, o *Options) {
	name := f.name
	if f.kind == "counter" && !o.OpenMetrics {
		name += "_total"
	}
	help := helpEscapes.Replace(f.help)
	if o.OpenMetrics {
		help = labelEscapes.Replace(f.help)
	}
	w.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + f.kind + "\n")
	// A set of labels stands together.
	order.Stable(f.series, func(a, b *series) int {
		return cmp.Or(cmp.Compare(ofAll(a.labels), ofAll(b.labels)), cmp.Compare(a.suffix, b.suffix), cmp.Compare(a.bound, b.bound), cmp.Compare(a.labels, b.labels))
	})
	for _, s := range f.series {
		for _, p := range s.points {
			w.WriteString(f.name + s.suffix + "{" + s.labels + "} " + number(p.value))
			if o.History {
				ms := o.Start.UnixMilli() + int64(math.Round(p.atMS))
				if o.OpenMetrics {
					w.WriteString(" " + strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64))
				} else {
					w.WriteString(" " + strconv.FormatInt(ms, 10))
				}
			}
			w.WriteByte('\n')
		}
	}
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
)

// Name makes the name of a metric of the parts of one: any other character than a letter or
// digit becomes an underscore.
func Name(parts ...string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(strings.Join(parts, "_")))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// labelsOf returns the labels of tags such as a=b,c=d. Names that begin with two lines are
// Prometheus's own.
func labelsOf(pid, tags string) string {
	list := `pid="` + pid + `"`
	seen := map[string]bool{"pid": true, "quantile": true, "le": true}
	if tags == "" {
		return list
	}
	for pair := range strings.SplitSeq(tags, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if name := Name(key); !seen[name] && !strings.HasPrefix(name, "__") {
			seen[name] = true
			list = withLabel(list, name, value)
		}
	}
	return list
}

func withLabel(labels, name, value string) string {
	return labels + "," + name + `="` + labelEscapes.Replace(strings.ToValidUTF8(value, "\ufffd")) + `"`
}

// ofAll returns labels without that of a quantile or a bucket.
func ofAll(labels string) string {
	before, _, _ := strings.Cut(labels, `,quantile="`)
	before, _, _ = strings.Cut(before, `,le="`)
	return before
}

// number returns a number as both formats have it.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
