package prometheus

import (
	"math"

	"github.com/etwgen/etwgen/analysis/counters"
)

// histogram adds the exponential histograms of a time series. The formats want the same
// buckets all the time: those of all values together.
func (c *collection) histogram(name, help, labels string, x *counters.Metric) {
	var all counters.Exponential
	first := true
	eachHistogram(x, func(_ float64, e counters.Exponential) {
		if first {
			all.Scale, first = e.Scale, false
		}
		all.Add(e)
	})
	if first {
		return
	}
	f := c.family(name, "histogram", help)
	eachHistogram(x, func(at float64, e counters.Exponential) {
		e.Coarsen(all.Scale)
		n := e.Zero
		for i := range all.Counts {
			if j := all.Offset + i - e.Offset; j >= 0 && j < len(e.Counts) {
				n += e.Counts[j]
			}
			bound := all.Bound(all.Offset + i)
			f.add(c.history, "_bucket", withLabel(labels, "le", number(bound)), at, float64(n)).bound = bound
		}
		f.add(c.history, "_bucket", withLabel(labels, "le", "+Inf"), at, float64(e.Count)).bound = math.Inf(1)
		f.add(c.history, "_count", labels, at, float64(e.Count))
		f.add(c.history, "_sum", labels, at, e.Sum)
	})
}

// eachHistogram calls a function with all values up to each time, whether the trace has
// them so or those of each interval.
func eachHistogram(x *counters.Metric, each func(atMS float64, e counters.Exponential)) {
	var sum counters.Exponential
	first := true
	for i := range x.Points {
		e, ok := x.Points[i].Exponential()
		if !ok {
			continue
		}
		if x.Deltas {
			if first {
				sum.Scale = e.Scale
			}
			sum.Add(e)
			e = sum
			e.Counts = append([]uint64(nil), sum.Counts...)
		}
		first = false
		each(x.Points[i].AtMS, e)
	}
}
