package measure

import (
	"math"
	"strconv"
	"strings"
)

// Numbers as people read them in sentences. A number and its unit have a blank between them.

// Grouped returns a number with commas between the thousands, rounded to digits
// after the point.
func Grouped(v float64, digits int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', digits, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if v < 0 && strings.ContainsAny(whole, "123456789") {
		whole = "-" + whole
	}
	return whole
}

// Precise returns a number with three digits that count.
func Precise(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95 || a == 0:
		return Grouped(v, 0)
	case a >= 9.995:
		return Grouped(v, 1)
	case a >= 0.9995:
		return Grouped(v, 2)
	case a >= 0.0995:
		return Grouped(v, 3)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// Count returns a number of things: 1 collection, 2 collections.
func Count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(float64(n), 0) + " " + many
}

// Span returns a length of time in milliseconds in the unit that fits it.
func Span(ms float64) string {
	switch a := math.Abs(ms); {
	case a >= 600_000:
		return Precise(ms/60_000) + " min"
	case a >= 1000:
		return Precise(ms/1000) + " s"
	case a >= 0.1 || a == 0:
		return Precise(ms) + " ms"
	}
	return Precise(ms*1000) + " µs"
}

// At returns a point in time, which is in milliseconds since the trace began.
func At(ms float64) string { return Grouped(ms/1000, 3) + " s" }

// Size returns a number of bytes in the unit that fits it, in steps of 1,000.
func Size(bytes float64) string {
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if math.Abs(bytes) >= u.bytes {
			return Precise(bytes/u.bytes) + " " + u.name
		}
	}
	return Precise(bytes) + " bytes"
}

// Percent returns a share, which is in percent.
func Percent(v float64) string {
	switch {
	case v != 0 && math.Abs(v) < 0.995:
		return strconv.FormatFloat(v, 'g', 2, 64) + " %"
	case v == 100:
		return "100 %"
	}
	return Grouped(v, 1) + " %"
}

// Times says how often: once, twice, 3 times.
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Grouped(float64(n), 0) + " times"
}
