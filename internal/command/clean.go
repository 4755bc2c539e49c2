package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean escapes characters that do not belong in a line of text. Traces have names that
// anyone may have chosen, and a terminal takes some characters as commands, or shows text in
// another order, or not at all.
func Clean(s string) string {
	if strings.IndexFunc(s, IsUnclean) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if IsUnclean(c) {
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// IsUnclean reports whether c is a control character, changes the direction of
// text, or does not show.
func IsUnclean(c rune) bool {
	return !unicode.IsPrint(c) || c == utf8.RuneError || c >= 0x34f && unicode.Is(ignorable, c)
}

// ignorable are the characters that are of a visible kind but show nothing.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}},
}

// AppendSafeJSON appends JSON with escapes for the characters that [Clean] would
// replace: in valid JSON they stand in strings alone.
func AppendSafeJSON(b, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			b, i = append(b, c), i+1
			continue
		}
		c, n := utf8.DecodeRune(text[i:])
		switch hi, lo := utf16.EncodeRune(c); {
		case c == utf8.RuneError || c == '\n' || !IsUnclean(c):
			b = append(b, text[i:i+n]...)
		case hi != utf8.RuneError:
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
		i += n
	}
	return b
}

// A CleanWriter cleans the lines that are written to W, each by one call, but for
// their tabs.
type CleanWriter struct{ W io.Writer }

func (w CleanWriter) Write(p []byte) (int, error) {
	var b strings.Builder
	for part := range strings.SplitAfterSeq(string(p), "\n") {
		line, ended := strings.CutSuffix(part, "\n")
		for i, text := range strings.Split(line, "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Clean(text))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	if _, err := io.WriteString(w.W, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
