package main

import (
	"fmt"
	"strconv"

	quantity "github.com/etwgen/etwgen/analysis/measure"
)

// count returns a number of things, with the plural of their name.
func count[N int | int64 | uint64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + several
}

// ms, mb and percentOf are numbers in sentences.
func ms(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + " ms" }

// msOf and mbOf are of numbers that may be unknown.
func msOf(f quantity.Float) string { return known(f, ms) }

func percentOf(f quantity.Float) string {
	return known(f, func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " %" })
}

func known(f quantity.Float, show func(float64) string) string {
	if v, ok := f.Get(); ok {
		return show(v)
	}
	return "-"
}

// spread says in one line how numbers in milliseconds are distributed.
func spread(s *quantity.Summary) string {
	if s.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%s in all; mean %s, median %s, p95 %s, p99 %s, longest %s",
		ms(s.Total), msOf(s.Mean), msOf(s.P50), msOf(s.P95), msOf(s.P99), msOf(s.Max))
}

func mb(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) + " MB" }

func mbOf(f quantity.Float) string { return known(f, mb) }
