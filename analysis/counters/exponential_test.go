package counters

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// pointOf returns the point that .NET writes for values: buckets from the lowest to the
// highest that is used, and some that are empty around them.
func pointOf(scale, empty int, values ...float64) MetricPoint {
	p := MetricPoint{Count: measure.Known(float64(len(values))), Scale: measure.Known(float64(scale))}
	counts, zero, sum := make(map[int]int), 0, 0.0
	first, last := math.MaxInt, math.MinInt
	for _, v := range values {
		if sum += v; v == 0 {
			zero++
			continue
		}
		// The definition, by the bounds.
		i := int(math.Floor(math.Log2(v) * math.Exp2(float64(scale))))
		for e := (Exponential{Scale: scale}); v <= e.Bound(i-1); {
			i--
		}
		counts[i]++
		first, last = min(first, i), max(last, i)
	}
	var list []string
	for i := first - empty; i <= last+empty && len(counts) > 0; i++ {
		list = append(list, strconv.Itoa(counts[i]))
	}
	p.Sum, p.ZeroCount, p.Buckets = measure.Known(sum), measure.Known(float64(zero)), strings.Join(list, ", ")
	p.Min, p.Max = measure.Known(slices.Min(values)), measure.Known(slices.Max(values))
	return p
}

// TestQuantiles: those of buckets are those of the values, to half a bucket.
func TestQuantiles(t *testing.T) {
	var values []float64
	for i := range 1000 {
		values = append(values, math.Pow(1.01, float64(i))*0.001)
	}
	for scale := 0; scale <= 8; scale++ {
		p := pointOf(scale, 1, values...)
		e, _ := p.Exponential()
		off := math.Exp2(math.Ldexp(0.5, -scale)) * (1 + 1e-9)
		for _, share := range []float64{0, 0.5, 0.95, 0.99, 1} {
			want := values[max(int(math.Ceil(share*1000)), 1)-1]
			if got := e.Quantile(share).Or(0); got > want*off || got < want/off {
				t.Errorf("scale %d: quantile %v is %v, of the values %v", scale, share, got, want)
			}
		}
	}
	p := pointOf(3, 0, 0, 0, 0, 8)
	if e, _ := p.Exponential(); e.Quantile(0.75) != measure.Known(0) || e.Quantile(0.99) != measure.Known(8) || !(&Exponential{}).Quantile(0.5).IsZero() {
		t.Errorf("%v, %v", e.Quantile(0.75), e.Quantile(0.99))
	}
}

// TestExponential finds where the buckets are, whatever the scale: each value is in its own.
func TestExponential(t *testing.T) {
	values := []float64{0, 0.001, 0.5, 0.6, 1, 1, 1.5, 2, 3, 4, 100, 1e9, 1e-9, 5e-324, math.MaxFloat64}
	for scale := minScale; scale <= 4; scale++ {
		p := pointOf(scale, scale&1, values...)
		e, ok := p.Exponential()
		if !ok || e.Count != uint64(len(values)) || e.Zero != 1 {
			t.Fatalf("scale %d: %+v, %v", scale, e, ok)
		}
		for i, n := range e.Counts {
			lower, upper := e.Bound(e.Offset+i-1), e.Bound(e.Offset+i)
			if math.IsInf(lower, 0) {
				lower = math.MaxFloat64
			}
			want := uint64(0)
			for _, v := range values {
				if v > lower && v <= upper {
					want++
				}
			}
			if n != want && upper > 1e-300 { // below numbers are not exact
				t.Errorf("scale %d: %d from %g to %g, want %d", scale, n, lower, upper, want)
			}
		}
	}
}

func TestExponentialDamage(t *testing.T) {
	good := pointOf(2, 0, 1, 2, 3)
	for name, change := range map[string]func(*MetricPoint){
		"scale":       func(p *MetricPoint) { p.Scale = measure.Known(21) },
		"part":        func(p *MetricPoint) { p.Scale = measure.Known(1.5) },
		"no number":   func(p *MetricPoint) { p.Buckets = "1, x" },
		"negative":    func(p *MetricPoint) { p.Buckets = "-1, 4" },
		"sum":         func(p *MetricPoint) { p.Buckets = "1" },
		"much":        func(p *MetricPoint) { p.Buckets = "9007199254740991,9007199254740991" },
		"maximum":     func(p *MetricPoint) { p.Max = measure.Known(math.Inf(1)) },
		"no maximum":  func(p *MetricPoint) { p.Max = measure.Float{} },
		"no scale":    func(p *MetricPoint) { p.Scale = measure.Float{} },
		"not a count": func(p *MetricPoint) { p.Count = measure.Known(-3) },
	} {
		p := good
		change(&p)
		if e, ok := p.Exponential(); ok {
			t.Errorf("%s: %+v", name, e)
		}
	}
	empty := MetricPoint{Scale: measure.Known(3), Count: measure.Known(0), Min: measure.Known(math.MaxFloat64), Max: measure.Known(-math.MaxFloat64)}
	if e, ok := empty.Exponential(); !ok || e.Count != 0 || e.Counts != nil || e.Max != 0 {
		t.Errorf("nothing: %+v, %v", e, ok)
	}
}

// TestExponentialAdd adds histograms of all scales: the sum is the histogram of all values.
func TestExponentialAdd(t *testing.T) {
	a, b := []float64{0.25, 0.3, 1, 7}, []float64{0, 5, 9, 2000}
	for scale := minScale; scale <= 3; scale++ {
		for other := minScale; other <= 3; other++ {
			p, q := pointOf(scale, 0, a...), pointOf(other, 1, b...)
			sum, _ := p.Exponential()
			more, _ := q.Exponential()
			before := slices.Clone(more.Counts)
			sum.Add(more)
			r := pointOf(min(scale, other), 0, append(slices.Clone(a), b...)...)
			want, _ := r.Exponential()
			if sum.Scale != want.Scale || sum.Offset != want.Offset || !slices.Equal(sum.Counts, want.Counts) || sum.Count != 8 || sum.Zero != 1 || sum.Min != 0 || sum.Max != 2000 || sum.Sum != want.Sum {
				t.Errorf("%d and %d: %+v, want %+v", scale, other, sum, want)
			}
			if !slices.Equal(before, more.Counts) {
				t.Error("what was added changed")
			}
		}
	}
	far, near := pointOf(20, 0, 1e-300), pointOf(20, 0, 1e300)
	sum, _ := far.Exponential()
	more, _ := near.Exponential()
	sum.Add(more)
	if len(sum.Counts) > maxBuckets || sum.Count != 2 {
		t.Errorf("%d buckets", len(sum.Counts))
	}
	var none Exponential
	none.Add(more)
	none.Add(Exponential{})
	if none.Count != 1 || none.Scale != 0 {
		t.Errorf("%+v", none)
	}
}

// sendPoint makes the event of a point.
func sendPoint(send func(string, ...string), p MetricPoint) {
	f := func(v measure.Float) string { return strconv.FormatFloat(v.Or(0), 'g', -1, 64) }
	send("Base2ExponentialHistogramValuePublished", "sessionId", "s", "meterName", "m", "instrumentName", "i", "tags", "", "count", f(p.Count), "sum", f(p.Sum),
		"scale", f(p.Scale), "zeroCount", f(p.ZeroCount), "minimum", f(p.Min), "maximum", f(p.Max), "buckets", p.Buckets)
}

// TestDeltas tells histograms that go on from those of one interval each.
func TestDeltas(t *testing.T) {
	for _, c := range []struct {
		name   string
		points []MetricPoint
		deltas bool
	}{
		{"one", []MetricPoint{pointOf(2, 0, 1, 2)}, false},
		{"more", []MetricPoint{pointOf(2, 0, 1, 2), pointOf(2, 0, 1, 2, 2)}, false},
		{"larger buckets", []MetricPoint{pointOf(3, 0, 1, 1.1, 2), pointOf(-1, 0, 1, 1.1, 2, 1e6)}, false},
		{"less", []MetricPoint{pointOf(2, 0, 1, 2), pointOf(2, 0, 1)}, true},
		{"others", []MetricPoint{pointOf(2, 0, 1, 2, 3), pointOf(2, 0, 1, 1, 3)}, true},
		{"as many", []MetricPoint{pointOf(2, 0, 1, 2, 3), pointOf(2, 0, 1, 2, 4)}, true},
	} {
		var mux etw.Mux
		a := New(&mux)
		send := sender(testtrace.NewScript(t, &mux))
		for _, p := range c.points {
			sendPoint(send, p)
		}
		if m := a.Result().Processes[0].Metrics[0]; m.Deltas != c.deltas || len(m.Points) != len(c.points) {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

// TestExponentialCorpus reads histograms of .NET: the lowest bucket is that of the smallest
// value, of which nothing was made.
func TestExponentialCorpus(t *testing.T) {
	res := analyze(t, corpus.File(t, "dotnet10", "metrics-base2.nettrace"))
	found, total := 0, 0.0
	var weights Exponential // of which each is one more than the last
	for _, m := range res.Processes[0].Metrics {
		for i := range m.Points {
			p := &m.Points[i]
			if p.Scale.IsZero() {
				continue
			}
			e, ok := p.Exponential()
			if !ok || !m.Deltas {
				t.Errorf("%s: %+v, deltas %v", m.Instrument, p, m.Deltas)
				continue
			}
			found++
			if e.Count > 0 && e.Zero == 0 && bucketOf(e.Min, e.Scale) != e.Offset {
				t.Errorf("%s: the smallest value %g is in bucket %d, and the first is %d", m.Instrument, e.Min, bucketOf(e.Min, e.Scale), e.Offset)
			}
			if m.Instrument == "serving.duration" {
				total += float64(e.Count)
			} else if weights.Add(e); i == 0 {
				weights = e
			}
		}
	}
	if found == 0 || total > 168 || total < 0.5*168 { // the last interval is not in the trace
		t.Errorf("%d histograms, %v values", found, total)
	}
	n := 0
	for i, count := range weights.Counts {
		n += int(count)
		if want := int(min(weights.Bound(weights.Offset+i), float64(weights.Count))); n != want {
			t.Errorf("%d weights up to %g, want %d", n, weights.Bound(weights.Offset+i), want)
		}
	}
}
