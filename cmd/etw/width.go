package main

import (
	"unicode"
	"unicode/utf8"
)

// ellipsis stands for what was left out of a text.
const ellipsis = "…"

// textWidth returns how many cells of a terminal s takes.
func textWidth(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n, i = n+1, i+1
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		n, i = n+runeWidth(c), i+size
	}
	return n
}

// runeWidth returns how many cells of a terminal c takes: marks none, and the
// characters of East Asia two.
func runeWidth(c rune) int {
	switch {
	case c < 0x300:
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, c):
		return 2
	}
	return 1
}

// wide are the blocks of characters that take two cells.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x231a, Hi: 0x231b, Stride: 1}, {Lo: 0x23e9, Hi: 0x23ec, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0x4dbf, Stride: 1}, {Lo: 0x4e00, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18aff, Stride: 1}, {Lo: 0x1b000, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// shorten cuts the middle out of s, such that it takes at most width cells: the
// begin of a name says where it belongs, and its end what it is.
func shorten(s string, width int) string {
	if textWidth(s) <= width {
		return s
	}
	if width < 2 {
		return head(ellipsis, width)
	}
	tail := (width - 1) / 2
	return head(s, width-1-tail) + ellipsis + last(s, tail)
}

// head returns the begin of s that takes at most width cells.
func head(s string, width int) string {
	for i, c := range s {
		if width -= runeWidth(c); width < 0 {
			return s[:i]
		}
	}
	return s
}

// last returns the end of s that takes at most width cells.
func last(s string, width int) string {
	i := len(s)
	for i > 0 {
		c, size := utf8.DecodeLastRuneInString(s[:i])
		if width -= runeWidth(c); width < 0 {
			break
		}
		i -= size
	}
	return s[i:]
}
