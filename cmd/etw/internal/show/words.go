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

// Ms, mb and percentOf are numbers in sentences.
func Ms(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + " ms" }

// MsOf and mbOf are of numbers that may be unknown.
func MsOf(f quantity.Float) string { return known(f, Ms) }

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
		Ms(s.Total), MsOf(s.Mean), MsOf(s.P50), MsOf(s.P95), MsOf(s.P99), MsOf(s.Max))
}

func Mb(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " MB" }

func MbOf(f quantity.Float) string { return known(f, Mb) }
