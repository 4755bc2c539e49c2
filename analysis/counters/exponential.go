package counters

import (
	"math"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
)

// An Exponential is a histogram whose buckets grow by the same factor, the 2^Scale-th
// root of 2: bucket i of Counts is of values above that to the power of Offset+i, up to
// that to the power of Offset+i+1.
type Exponential struct {
	Scale    int
	Count    uint64 // of all values, those that are zero included
	Sum      float64
	Min, Max float64 // if there are values
	Zero     uint64  // values that are zero
	Offset   int
	Counts   []uint64
}

// Limits of .NET's histograms.
const (
	minScale = -11
	maxScale = 20
)

// Exponential returns the histogram that p is. The trace has no place of the first bucket:
// the highest that is not empty is that of the largest value. A point that is no such
// histogram, or says that it has more or less values than are in its buckets, has none.
func (p *MetricPoint) Exponential() (e Exponential, ok bool) {
	scale, isExponential := p.Scale.Get()
	if !isExponential || scale < minScale || scale > maxScale || scale != math.Trunc(scale) {
		return e, false
	}
	e = Exponential{Scale: int(scale), Count: uint64(max(p.Count.Or(0), 0)), Zero: uint64(max(p.ZeroCount.Or(0), 0)), Sum: p.Sum.Or(0)}
	counts, all, ok := bucketCounts(p.Buckets)
	if !ok || all+e.Zero != e.Count {
		return Exponential{}, false
	}
	if e.Count > 0 {
		e.Min, e.Max = p.Min.Or(0), p.Max.Or(0)
	}
	last := len(counts) - 1
	for last >= 0 && counts[last] == 0 {
		last--
	}
	if last < 0 {
		return e, true
	}
	if !(e.Max > 0) || math.IsInf(e.Max, 0) {
		return Exponential{}, false
	}
	e.Counts = counts[:last+1]
	e.Offset = bucketOf(e.Max, e.Scale) - last
	for e.Counts[0] == 0 {
		e.Counts = e.Counts[1:]
		e.Offset++
	}
	return e, true
}

// bucketCounts reads a list of numbers such as 1, 0, 2, and adds them up.
func bucketCounts(text string) (counts []uint64, all uint64, ok bool) {
	if strings.TrimSpace(text) == "" {
		return nil, 0, true
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 53)
		if all += n; err != nil || all > 1<<53 {
			return nil, 0, false
		}
		counts = append(counts, n)
	}
	return counts, all, true
}

// bucketOf returns the number of the bucket of a value, which is above zero. The steps are
// those of .NET, so that both round alike.
func bucketOf(v float64, scale int) int {
	fraction, exponent := math.Frexp(v) // v is fraction * 2^exponent, and fraction from 1/2 on
	power := fraction == 0.5
	exponent--
	switch {
	case scale > 0 && power:
		return exponent<<scale - 1
	case scale > 0:
		return int(math.Ceil(math.Log(v)*math.Ldexp(math.Log2E, scale))) - 1
	case power:
		exponent--
	}
	return exponent >> -scale
}

// Bound returns the largest value that is in a bucket, counted as Offset is.
func (e *Exponential) Bound(bucket int) float64 {
	return math.Exp2(math.Ldexp(float64(bucket+1), -e.Scale))
}

// Coarsen makes buckets larger: scale is the new one.
func (e *Exponential) Coarsen(scale int) {
	steps := e.Scale - scale
	if steps <= 0 {
		return
	}
	e.Scale = scale
	if len(e.Counts) == 0 {
		return
	}
	first := e.Offset >> steps
	counts := make([]uint64, (e.Offset+len(e.Counts)-1)>>steps-first+1)
	for i, n := range e.Counts {
		counts[(e.Offset+i)>>steps-first] += n
	}
	e.Offset, e.Counts = first, counts
}

// maxBuckets bounds the buckets of a sum, as .NET does those of a histogram.
const maxBuckets = 160

// Add adds the values of another histogram, with buckets as large as the larger ones of
// the two, or larger if there would be more than 160 of them.
func (e *Exponential) Add(more Exponential) {
	if more.Count == 0 {
		return
	}
	if e.Count == 0 {
		scale := min(e.Scale, more.Scale)
		*e = more
		e.Counts = append([]uint64(nil), more.Counts...)
		e.Coarsen(scale)
		return
	}
	e.Count, e.Zero, e.Sum = e.Count+more.Count, e.Zero+more.Zero, e.Sum+more.Sum
	e.Min, e.Max = min(e.Min, more.Min), max(e.Max, more.Max)
	for scale := min(e.Scale, more.Scale); ; scale-- {
		e.Coarsen(scale)
		more.Coarsen(scale)
		if from, to := e.span(&more); int64(to)-int64(from) <= maxBuckets || scale <= minScale {
			e.widen(from, to)
			break
		}
	}
	for i, n := range more.Counts {
		e.Counts[more.Offset+i-e.Offset] += n
	}
}

// span returns where the buckets of two histograms of one scale begin and end.
func (e *Exponential) span(o *Exponential) (from, to int) {
	switch {
	case len(o.Counts) == 0:
		return e.Offset, e.Offset + len(e.Counts)
	case len(e.Counts) == 0:
		return o.Offset, o.Offset + len(o.Counts)
	}
	return min(e.Offset, o.Offset), max(e.Offset+len(e.Counts), o.Offset+len(o.Counts))
}

// widen makes room for buckets.
func (e *Exponential) widen(from, to int) {
	counts := make([]uint64, to-from)
	if len(e.Counts) > 0 {
		copy(counts[e.Offset-from:], e.Counts)
	}
	e.Offset, e.Counts = from, counts
}

// follows reports whether e may have all values of another histogram, and more.
func (e Exponential) follows(before Exponential) bool {
	if e.Count < before.Count || e.Zero < before.Zero || e.Scale > before.Scale ||
		before.Count > 0 && (e.Min > before.Min || e.Max < before.Max || e.Sum < before.Sum) {
		return false
	}
	before.Coarsen(e.Scale)
	for i, n := range before.Counts {
		at := before.Offset + i - e.Offset
		if n > 0 && (at < 0 || at >= len(e.Counts) || e.Counts[at] < n) {
			return false
		}
	}
	return true
}

// Quantile returns the value that a share of all values do not exceed: the middle, by its factor,
// of the bucket that it is in, within the least and the largest value.
func (e *Exponential) Quantile(share float64) measure.Float {
	if e.Count == 0 {
		return measure.Float{}
	}
	rank := max(uint64(math.Ceil(share*float64(e.Count))), 1)
	seen := e.Zero
	switch {
	case rank <= seen:
		return measure.Known(0)
	case rank >= e.Count:
		return measure.Known(e.Max)
	}
	for i, n := range e.Counts {
		if seen += n; rank <= seen {
			middle := math.Exp2(math.Ldexp(float64(e.Offset+i)+0.5, -e.Scale))
			return measure.Known(min(max(middle, e.Min), e.Max))
		}
	}
	return measure.Known(e.Max)
}

// quantiles are those that .NET tells of other histograms.
func (e *Exponential) quantiles() map[string]measure.Float {
	if e.Count == 0 {
		return nil
	}
	return map[string]measure.Float{"0.5": e.Quantile(0.5), "0.95": e.Quantile(0.95), "0.99": e.Quantile(0.99)}
}
