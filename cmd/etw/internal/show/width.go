package show

import (
	"unicode"
	"unicode/utf8"
)

// Ellipsis stands for the part left out of a text.
const Ellipsis = "…"

// TextWidth returns how many cells of a terminal s takes.
func TextWidth(s string) int {
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
	case unicode.In(c, unicode.Mn, unicode.Me, joined):
		return 0
	case unicode.Is(wide, c):
		return 2
	}
	return 1
}

// wide are the characters that take two cells: those that are wide as Unicode has it, with
// the ranges between them and is not assigned.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x231a, Hi: 0x231b, Stride: 1}, {Lo: 0x2329, Hi: 0x232a, Stride: 1},
		{Lo: 0x23e9, Hi: 0x23ec, Stride: 1}, {Lo: 0x23f0, Hi: 0x23f0, Stride: 1}, {Lo: 0x23f3, Hi: 0x23f3, Stride: 1},
		{Lo: 0x25fd, Hi: 0x25fe, Stride: 1}, {Lo: 0x2614, Hi: 0x2615, Stride: 1}, {Lo: 0x2648, Hi: 0x2653, Stride: 1},
		{Lo: 0x267f, Hi: 0x267f, Stride: 1}, {Lo: 0x2693, Hi: 0x2693, Stride: 1}, {Lo: 0x26a1, Hi: 0x26a1, Stride: 1},
		{Lo: 0x26aa, Hi: 0x26ab, Stride: 1}, {Lo: 0x26bd, Hi: 0x26be, Stride: 1}, {Lo: 0x26c4, Hi: 0x26c5, Stride: 1},
		{Lo: 0x26ce, Hi: 0x26ce, Stride: 1}, {Lo: 0x26d4, Hi: 0x26d4, Stride: 1}, {Lo: 0x26ea, Hi: 0x26ea, Stride: 1},
		{Lo: 0x26f2, Hi: 0x26f3, Stride: 1}, {Lo: 0x26f5, Hi: 0x26f5, Stride: 1}, {Lo: 0x26fa, Hi: 0x26fa, Stride: 1},
		{Lo: 0x26fd, Hi: 0x26fd, Stride: 1}, {Lo: 0x2705, Hi: 0x2705, Stride: 1}, {Lo: 0x270a, Hi: 0x270b, Stride: 1},
		{Lo: 0x2728, Hi: 0x2728, Stride: 1}, {Lo: 0x274c, Hi: 0x274c, Stride: 1}, {Lo: 0x274e, Hi: 0x274e, Stride: 1},
		{Lo: 0x2753, Hi: 0x2755, Stride: 1}, {Lo: 0x2757, Hi: 0x2757, Stride: 1}, {Lo: 0x2795, Hi: 0x2797, Stride: 1},
		{Lo: 0x27b0, Hi: 0x27b0, Stride: 1}, {Lo: 0x27bf, Hi: 0x27bf, Stride: 1}, {Lo: 0x2b1b, Hi: 0x2b1c, Stride: 1},
		{Lo: 0x2b50, Hi: 0x2b50, Stride: 1}, {Lo: 0x2b55, Hi: 0x2b55, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0x3247, Stride: 1}, {Lo: 0x3250, Hi: 0x4dbf, Stride: 1}, {Lo: 0x4e00, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe10, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff01, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x1b2ff, Stride: 1}, {Lo: 0x1f004, Hi: 0x1f004, Stride: 1}, {Lo: 0x1f0cf, Hi: 0x1f0cf, Stride: 1},
		{Lo: 0x1f18e, Hi: 0x1f18e, Stride: 1}, {Lo: 0x1f191, Hi: 0x1f19a, Stride: 1}, {Lo: 0x1f200, Hi: 0x1f320, Stride: 1},
		{Lo: 0x1f32d, Hi: 0x1f335, Stride: 1}, {Lo: 0x1f337, Hi: 0x1f37c, Stride: 1}, {Lo: 0x1f37e, Hi: 0x1f393, Stride: 1},
		{Lo: 0x1f3a0, Hi: 0x1f3ca, Stride: 1}, {Lo: 0x1f3cf, Hi: 0x1f3d3, Stride: 1}, {Lo: 0x1f3e0, Hi: 0x1f3f0, Stride: 1},
		{Lo: 0x1f3f4, Hi: 0x1f3f4, Stride: 1}, {Lo: 0x1f3f8, Hi: 0x1f43e, Stride: 1}, {Lo: 0x1f440, Hi: 0x1f440, Stride: 1},
		{Lo: 0x1f442, Hi: 0x1f4fc, Stride: 1}, {Lo: 0x1f4ff, Hi: 0x1f53d, Stride: 1}, {Lo: 0x1f54b, Hi: 0x1f54e, Stride: 1},
		{Lo: 0x1f550, Hi: 0x1f567, Stride: 1}, {Lo: 0x1f57a, Hi: 0x1f57a, Stride: 1}, {Lo: 0x1f595, Hi: 0x1f596, Stride: 1},
		{Lo: 0x1f5a4, Hi: 0x1f5a4, Stride: 1}, {Lo: 0x1f5fb, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6c5, Stride: 1},
		{Lo: 0x1f6cc, Hi: 0x1f6cc, Stride: 1}, {Lo: 0x1f6d0, Hi: 0x1f6d2, Stride: 1}, {Lo: 0x1f6d5, Hi: 0x1f6df, Stride: 1},
		{Lo: 0x1f6eb, Hi: 0x1f6ec, Stride: 1}, {Lo: 0x1f6f4, Hi: 0x1f6fc, Stride: 1}, {Lo: 0x1f7e0, Hi: 0x1f7f0, Stride: 1},
		{Lo: 0x1f90c, Hi: 0x1f93a, Stride: 1}, {Lo: 0x1f93c, Hi: 0x1f945, Stride: 1}, {Lo: 0x1f947, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x1fa70, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// joined are the vowels and final consonants of Korean, which are shown in the cells of
// the consonant before them.
var joined = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x1161, Hi: 0x11ff, Stride: 1}, {Lo: 0xd7b0, Hi: 0xd7fb, Stride: 1}}}

// Shorten cuts the middle out of s, such that it takes at most width cells: the begin of a
// name says where it belongs, and its end names it.
func Shorten(s string, width int) string {
	if TextWidth(s) <= width {
		return s
	}
	if width < 2 {
		return head(Ellipsis, width)
	}
	tail := (width - 1) / 2
	return head(s, width-1-tail) + Ellipsis + last(s, tail)
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
