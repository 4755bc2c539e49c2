package table

import "github.com/etwgen/etwgen/analysis/measure"

// A Bucket is a part of the time of a series in which there was something.
type Bucket struct {
	StartMS, EndMS float64
	Count          uint64
	Sum            float64
}

// Buckets returns the buckets of a series.
func Buckets(s *measure.Series) []Bucket {
	var list []Bucket
	for i, n := range s.Counts {
		if from := float64(i) * s.WidthMS; n != 0 {
			list = append(list, Bucket{from, from + s.WidthMS, uint64(n), s.Sums[i]})
		}
	}
	return list
}

// Series returns a view of sums over time: how often and, unless sum is empty, how much.
// Parts of which of returns nil have no rows.
func Series[P any](parts []P, pid func(P) int64, sum string, of func(P) *measure.Series) View {
	columns := BucketColumns(sum, func(b *Bucket) *Bucket { return b })
	v := Each("time", "Over time", parts, pid, func(p P) []*Bucket {
		if s := of(p); s != nil {
			return Refs(Buckets(s))
		}
		return nil
	}, columns...)
	return v
}

// BucketColumns are the columns of buckets of time.
func BucketColumns[T any](sum string, of func(T) *Bucket) []Column[T] {
	list := []Column[T]{
		Moment("startMs", func(row T) float64 { return of(row).StartMS }),
		Moment("endMs", func(row T) float64 { return of(row).EndMS }),
		Count("count", func(row T) uint64 { return of(row).Count }),
	}
	if sum != "" {
		list = append(list, Amount(sum, func(row T) float64 { return of(row).Sum }).To(3))
	}
	return list
}
