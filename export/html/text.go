package html

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/etwgen/etwgen/analysis/measure"
)

// nan is an unknown number.
var nan = math.NaN()

// maxText is how much of a text a page has. Names in traces can be of any length.
const maxText = 1000

// clean returns a text as a page shows it: characters that do not show, or change how other
// text is shown, are escaped, and long texts cut off.
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

// sentence makes a phrase a sentence.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:] + "."
}

func grouped(v float64, digits int) string                       { return measure.Grouped(v, digits) }
func precise(v float64) string                                   { return measure.Precise(v) }
func count[N int | int64 | uint64](n N, one, many string) string { return measure.Count(n, one, many) }

// joined keeps a number and its unit in one line of a page.
func joined(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

func span(ms float64) string    { return joined(measure.Span(ms)) }
func at(ms float64) string      { return joined(measure.At(ms)) }
func size(bytes float64) string { return joined(measure.Size(bytes)) }
func percent(v float64) string  { return joined(measure.Percent(v)) }
