package cli

import (
	"unicode/utf8"

	"github.com/etwgen/etwgen/internal/command"
)

// Clean escapes characters that do not belong in a line of text.
func Clean(s string) string { return command.Clean(s) }

// CleanFrom cleans the end of b, from mark on. It is quick where there is nothing
// to do.
func CleanFrom(b []byte, mark int) []byte {
	for i := mark; i < len(b); {
		if c := b[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		c, n := utf8.DecodeRune(b[i:])
		if command.IsUnclean(c) {
			return append(b[:mark], Clean(string(b[mark:]))...)
		}
		i += n
	}
	return b
}

// AppendSafeJSON appends JSON with escapes for the characters that clean would
// replace.
func AppendSafeJSON(b, text []byte) []byte { return command.AppendSafeJSON(b, text) }
