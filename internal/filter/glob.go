package filter

import (
	"strings"
	"unicode/utf8"
)

// A Glob is a pattern in which * stands for any text and ? for one character.
// Letters match in either case.
type Glob string

// Match reports whether all of s matches g.
func (g Glob) Match(s string) bool {
	pattern, text := strings.ToLower(string(g)), strings.ToLower(s)
	// The last * and the text it covers so far: a mismatch after it makes it cover one
	// character more. Earlier ones need no second look.
	star, covered := -1, 0
	p, t := 0, 0
	for t < len(text) {
		c, size := utf8.DecodeRuneInString(text[t:])
		if p < len(pattern) {
			w, width := utf8.DecodeRuneInString(pattern[p:])
			if w == '*' {
				star, covered = p, t
				p++
				continue
			}
			if w == '?' || w == c {
				p, t = p+width, t+size
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(text[covered:])
		covered += size
		p, t = star+1, covered
	}
	return strings.Trim(pattern[p:], "*") == ""
}
