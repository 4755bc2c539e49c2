package main

import (
	"unicode/utf8"

	"github.com/etwgen/etwgen/internal/command"
)

// clean escapes what does not belong in a line of text.
func clean(s string) string { return command.Clean(s) }

// cleanFrom cleans the end of b, from mark on. It is quick where there is nothing
// to do.
func cleanFrom(b []byte, mark int) []byte {
	for i := mark; i < len(b); {
		if c := b[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		c, n := utf8.DecodeRune(b[i:])
		if command.IsUnclean(c) {
			return append(b[:mark], clean(string(b[mark:]))...)
		}
		i += n
	}
	return b
}

// appendSafeJSON appends JSON with escapes for the characters that clean would
// replace.
func appendSafeJSON(b, text []byte) []byte { return command.AppendSafeJSON(b, text) }
