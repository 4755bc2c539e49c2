package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// clean escapes what does not belong in a line of text. Traces have names that
// anyone may have chosen, and a terminal takes some characters as commands, or
// shows text in another order, or not at all.
func clean(s string) string {
	if strings.IndexFunc(s, isUnclean) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if isUnclean(c) {
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// isUnclean reports whether c is a control character, changes the direction of
// text, or does not show.
func isUnclean(c rune) bool {
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

// cleanFrom cleans the end of b, from mark on. It is quick where there is nothing
// to do.
func cleanFrom(b []byte, mark int) []byte {
	for i := mark; i < len(b); {
		if c := b[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		c, n := utf8.DecodeRune(b[i:])
		if isUnclean(c) {
			return append(b[:mark], clean(string(b[mark:]))...)
		}
		i += n
	}
	return b
}

// appendSafeJSON appends JSON with escapes for the characters that clean would
// replace: in valid JSON they stand in strings alone.
func appendSafeJSON(b, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			b, i = append(b, c), i+1
			continue
		}
		c, n := utf8.DecodeRune(text[i:])
		if c != utf8.RuneError && isUnclean(c) {
			quoted := etw.AppendJSONString(nil, string(c))
			b = append(b, quoted[1:len(quoted)-1]...)
		} else {
			b = append(b, text[i:i+n]...)
		}
		i += n
	}
	return b
}
