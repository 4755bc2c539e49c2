package measure

import (
	"math"
	"slices"
)

// A Summary describes a set of numbers, all in one unit.
type Summary struct {
	Count int     `json:"count"`
	Total float64 `json:"total"`
	// The rest is unknown if there are no numbers.
	Mean Float `json:"mean,omitzero"`
	Min  Float `json:"min,omitzero"`
	Max  Float `json:"max,omitzero"`
	// StdDev is the standard deviation of a sample, unknown below two numbers.
	StdDev Float `json:"stdDev,omitzero"`
	P50    Float `json:"p50,omitzero"`
	P95    Float `json:"p95,omitzero"`
	P99    Float `json:"p99,omitzero"`
}

// Summarize returns the summary of values, and sorts them.
func Summarize(values []float64) Summary {
	slices.Sort(values)
	s := Summary{Count: len(values)}
	if len(values) == 0 {
		return s
	}
	for _, v := range values {
		s.Total += v
	}
	mean := s.Total / float64(len(values))
	s.Mean, s.Min, s.Max = Known(mean), Known(values[0]), Known(values[len(values)-1])
	if n := len(values); n > 1 {
		var squares float64
		for _, v := range values {
			squares += (v - mean) * (v - mean)
		}
		s.StdDev = Known(math.Sqrt(squares / float64(n-1)))
	}
	s.P50, s.P95, s.P99 = Percentile(values, 0.50), Percentile(values, 0.95), Percentile(values, 0.99)
	return s
}

// Percentile returns the p-quantile, 0 <= p <= 1, of values that are sorted:
// between two of them it is interpolated.
func Percentile(sorted []float64, p float64) Float {
	if len(sorted) == 0 {
		return Float{}
	}
	x := p * float64(len(sorted)-1)
	i := int(x)
	if i+1 >= len(sorted) {
		return Known(sorted[len(sorted)-1])
	}
	return Known(sorted[i] + (x-float64(i))*(sorted[i+1]-sorted[i]))
}
