package html

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nan is an unknown number.
var nan = math.NaN()

// maxText is how much of a text a page has. Names in traces can be of any length.
const maxText = 1000

// clean returns a text as a page shows it: what does not show, or changes how other
// text is shown, is escaped, and what is too long cut off.
func clean(s string) string {
	if len(s) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	if strings.IndexFunc(s, isHidden) < 0 {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16)) // a byte that is no text
		case isHidden(c):
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// isHidden reports whether c is a control character, changes the direction of text
// or shows nothing.
func isHidden(c rune) bool {
	return c != ' ' && (!unicode.IsPrint(c) || c == utf8.RuneError || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) ||
		unicode.Is(unicode.Variation_Selector, c))
}

// grouped writes a number with commas between the thousands, rounded to digits
// after the point.
func grouped(v float64, digits int) string {
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

// precise writes a number with three digits that count.
func precise(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95 || a == 0:
		return grouped(v, 0)
	case a >= 9.995:
		return grouped(v, 1)
	case a >= 0.9995:
		return grouped(v, 2)
	case a >= 0.0995:
		return grouped(v, 3)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// sentence makes a sentence of what is almost one.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:] + "."
}

// unit joins a number and its unit, which stay in one line.
func unit(number, name string) string { return number + "\u00a0" + name }

// count writes a number of things: 1 collection, 2 collections.
func count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(float64(n), 0) + " " + many
}

// span writes a length of time in the unit that fits it.
func span(ms float64) string {
	switch a := math.Abs(ms); {
	case a >= 600_000:
		return unit(precise(ms/60_000), "min")
	case a >= 1000:
		return unit(precise(ms/1000), "s")
	case a >= 0.1 || a == 0:
		return unit(precise(ms), "ms")
	}
	return unit(precise(ms*1000), "µs")
}

// at writes a point in time, which is in milliseconds since the trace began.
func at(ms float64) string { return unit(grouped(ms/1000, 3), "s") }

// size writes a number of bytes in the unit that fits it, in steps of 1,000.
func size(bytes float64) string {
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if math.Abs(bytes) >= u.bytes {
			return unit(precise(bytes/u.bytes), u.name)
		}
	}
	return unit(precise(bytes), "bytes")
}

// percent writes a share, which is in percent.
func percent(v float64) string {
	switch {
	case v != 0 && math.Abs(v) < 0.995:
		return unit(strconv.FormatFloat(v, 'g', 2, 64), "%")
	case v == 100:
		return unit("100", "%")
	}
	return unit(grouped(v, 1), "%")
}
