package show

import (
	"fmt"
	"math"
	"strconv"

	quantity "github.com/etwgen/etwgen/analysis/measure"
)

// Count returns a number of things, with the plural of their name. It is called in too many places
// to be inlined.
//
//go:noinline
func Count[N int | int64 | uint64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + several
}

// MS is a time in a sentence.
func MS(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + " ms" }

// Size is a number of bytes in a sentence: in MB, or in a smaller unit below one.
func Size(bytes float64) string {
	switch size := math.Abs(bytes); {
	case size >= 999_950: // which kB would round to 1,000
		return strconv.FormatFloat(bytes/1e6, 'f', 1, 64) + " MB"
	case size >= 999.5:
		return strconv.FormatFloat(bytes/1e3, 'f', 1, 64) + " kB"
	}
	return Count(int64(math.Round(bytes)), "byte", "bytes")
}

// MSOf and SizeOfMB are of numbers that may be unknown.
func MSOf(f quantity.Float) string { return known(f, MS) }
func SizeOfMB(f quantity.Float) string {
	return known(f, func(v float64) string { return Size(v * 1e6) })
}

// PercentOf is a share that may be unknown.
func PercentOf(f quantity.Float) string {
	return known(f, func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " %" })
}

func known(f quantity.Float, show func(float64) string) string {
	if v, ok := f.Get(); ok {
		return show(v)
	}
	return "-"
}

// Spread says in one line how numbers in milliseconds are distributed.
func Spread(s *quantity.Summary) string {
	if s.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%s in all; mean %s, median %s, p95 %s, p99 %s, longest %s",
		MS(s.Total), MSOf(s.Mean), MSOf(s.P50), MSOf(s.P95), MSOf(s.P99), MSOf(s.Max))
}
