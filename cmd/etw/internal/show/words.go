package show

import (
	"fmt"
	"strconv"

	quantity "github.com/etwgen/etwgen/analysis/measure"
)

// Count returns a number of things, with the plural of their name.
func Count[N int | int64 | uint64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + several
}

// MS and MB are numbers in sentences.
func MS(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + " ms" }
func MB(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " MB" }

// MSOf and MBOf are of numbers that may be unknown.
func MSOf(f quantity.Float) string { return known(f, MS) }
func MBOf(f quantity.Float) string { return known(f, MB) }

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
