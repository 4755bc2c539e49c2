package etw

import (
	"bytes"
	"unicode/utf8"
)

// ANSI is a string of bytes as a payload holds it, without a terminator: in a
// code page of the program that logged it, or in UTF-8. It is a view of the
// payload.
type ANSI []byte

// Equal reports whether s and t are the same bytes.
func (s ANSI) Equal(t ANSI) bool { return bytes.Equal(s, t) }

// String returns s as text. Bytes that are valid UTF-8 are taken as such; others
// as Latin-1, since the code page is not known.
func (s ANSI) String() string { return string(s.AppendTo(make([]byte, 0, len(s)))) }

// AppendTo appends s as String gives it.
func (s ANSI) AppendTo(b []byte) []byte {
	if utf8.Valid(s) {
		return append(b, s...)
	}
	for _, c := range s {
		b = utf8.AppendRune(b, rune(c))
	}
	return b
}

// AppendText is AppendTo. It implements encoding.TextAppender and never fails.
func (s ANSI) AppendText(b []byte) ([]byte, error) { return s.AppendTo(b), nil }

// MarshalText implements encoding.TextMarshaler.
func (s ANSI) MarshalText() ([]byte, error) { return s.AppendTo(nil), nil }
