package html

import (
	"math"

	"github.com/etwgen/etwgen/analysis/gc"
)

// A histogram has at most so many bars, of widths that grow by one factor each:
// pauses span several powers of ten.
const barsOfHistogram = 28

// pauseHistogram shows how many collections had pauses of which length.
func pauseHistogram(r *gc.Runtime, gcs []*gc.GC) *chart {
	low, high := math.Inf(1), 0.0
	for _, g := range gcs {
		if ms, ok := g.PauseMS.Get(); ok && g.Complete() && ms > 0 {
			low, high = min(low, ms), max(high, ms)
		}
	}
	c := &chart{ID: "histogram", Kind: histogram, Title: "Lengths of pauses", Unit: "ms", X: &numbers{digits: 6}}
	for _, kind := range gcColors {
		s := *kind
		s.Values = &numbers{}
		c.Series = append(c.Series, &s)
	}
	if high == 0 {
		return c
	}
	bounds := barBounds(low, high)
	c.X.values = bounds
	for _, s := range c.Series {
		s.Values.values = make([]float64, len(bounds)-1)
	}
	for _, g := range gcs {
		if ms, ok := g.PauseMS.Get(); ok && g.Complete() {
			c.Series[category(g)].Values.values[barOf(bounds, ms)]++
		}
	}
	for _, m := range []struct {
		label string
		at    float64
	}{{"P50", r.All.PauseMS.P50.Or(0)}, {"P95", r.All.PauseMS.P95.Or(0)}, {"P99", r.All.PauseMS.P99.Or(0)}, {"longest", high}} {
		c.Marks = append(c.Marks, mark{m.label, m.at})
	}
	return c
}

// barBounds returns the bounds of bars for values between low and high. Each is the
// one before by a factor that divides 10 evenly.
func barBounds(low, high float64) []float64 {
	decades := math.Log10(high) - math.Log10(low)
	perDecade := 1
	for _, n := range []int{2, 3, 5, 10, 20, 50} {
		if float64(n)*decades > barsOfHistogram-2 {
			break
		}
		perDecade = n
	}
	first := int(math.Floor(math.Log10(low) * float64(perDecade)))
	last := int(math.Floor(math.Log10(high)*float64(perDecade))) + 1
	bounds := make([]float64, 0, last-first+1)
	for i := first; i <= last; i++ {
		bounds = append(bounds, math.Pow(10, float64(i)/float64(perDecade)))
	}
	return bounds
}

// barOf returns the bar that a value is in.
func barOf(bounds []float64, v float64) int {
	for i := len(bounds) - 2; i > 0; i-- {
		if v >= bounds[i] {
			return i
		}
	}
	return 0
}
