package timeline

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/analysis/counters"
)

// counters adds event counters and metrics. Counts of an interval are parted over it, and
// measures are means.
func (b *builder) counters(res *counters.Result) {
	for _, p := range res.Processes {
		for i := range p.Counters {
			b.counter(p.PID, &p.Counters[i])
		}
		for i := range p.Metrics {
			b.metric(p.PID, &p.Metrics[i])
		}
	}
}

func (b *builder) counter(pid int64, c *counters.Counter) {
	unit := cmp.Or(c.Unit, c.KnownUnit)
	k := key{kind: Counter, pid: pid, of: named(c.Provider, c.Name, c.Metadata), unit: unit, how: Mean}
	if c.Type == "Sum" {
		k.how = Sum
	}
	for i, x := range c.Points {
		if i == 0 {
			k.life = b.lives.at(pid, x.AtMS)
		}
		at := nanoseconds(x.AtMS)
		if k.how == Sum {
			if v, ok := x.Increment.Get(); ok {
				b.spread(b.row(k, b.n), at-nanoseconds(x.IntervalSec*1000), at, v)
			}
		} else if v, ok := x.Mean.Get(); ok {
			b.set(b.row(k, b.n), at, v)
		}
	}
}

// metric adds a time series: the change of one that counts, the level of one that goes up
// and down, the value of one that measures, and of a histogram how much was measured. The
// first event of a count tells no change.
func (b *builder) metric(pid int64, m *counters.Metric) {
	k := key{kind: Counter, pid: pid, of: named(m.Meter, m.Instrument, m.Tags), unit: m.Unit}
	k.how = howOf(m)
	for i, x := range m.Points {
		if i == 0 {
			k.life = b.lives.at(pid, x.AtMS)
		}
		at := nanoseconds(x.AtMS)
		if v, ok := x.Count.Get(); ok {
			k.unit = "count"
			b.add(b.row(k, b.n), at, v)
		} else if v, ok := x.Rate.Get(); ok && k.how == Sum {
			b.add(b.row(k, b.n), at, v)
		} else if v, ok := x.Value.Get(); ok && k.how != Sum {
			b.set(b.row(k, b.n), at, v)
		}
	}
}

// howOf returns how a time series is shown.
func howOf(m *counters.Metric) How {
	if m.GoesDown() {
		return Highest
	}
	for _, x := range m.Points {
		if !x.Rate.IsZero() || !x.Count.IsZero() {
			return Sum
		}
	}
	return Mean
}

// named returns the name of a counter.
func named(source, name, tags string) string {
	return strings.TrimSpace(strings.Trim(source+"/"+name, "/") + " " + tags)
}
