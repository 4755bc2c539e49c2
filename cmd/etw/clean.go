package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean escapes what does not belong in a line of text. Traces have names that
// anyone may have chosen, and a terminal takes some characters as commands.
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

func isUnclean(c rune) bool { return !unicode.IsPrint(c) || c == utf8.RuneError }

// cleanFrom cleans the end of b, from mark on. It is quick where there is nothing
// to do.
func cleanFrom(b []byte, mark int) []byte {
	for i := mark; i < len(b); i++ {
		// The control characters past ASCII begin with the byte 0xc2.
		if c := b[i]; c < ' ' || c == 0x7f || c == 0xc2 && i+1 < len(b) && b[i+1] < 0xa0 {
			return append(b[:mark], clean(string(b[mark:]))...)
		}
	}
	return b
}
