package etw

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF16 is a string as a payload holds it: UTF-16, little-endian, without a
// terminator. It is a view of the payload.
//
// Half of a surrogate pair without its other half becomes U+FFFD when the
// string is turned into UTF-8; the view keeps it.
type UTF16 []byte

// MakeUTF16 returns s in UTF-16.
func MakeUTF16(s string) UTF16 { return AppendUTF16(make([]byte, 0, 2*len(s)), s) }

// AppendUTF16 appends s in UTF-16, little-endian, without a terminator.
func AppendUTF16(b []byte, s string) []byte {
	for _, c := range s {
		if c < 0x10000 {
			b = append(b, byte(c), byte(c>>8))
			continue
		}
		hi, lo := utf16.EncodeRune(c)
		b = append(b, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
	}
	return b
}

// Len returns the number of UTF-16 code units.
func (s UTF16) Len() int { return len(s) / 2 }

// Equal reports whether s and t are the same string.
func (s UTF16) Equal(t UTF16) bool { return bytes.Equal(s, t) }

// EqualString reports whether s is the string t, without allocating.
func (s UTF16) EqualString(t string) bool {
	for c := range s.runes() {
		want, n := utf8.DecodeRuneInString(t)
		if n == 0 || want != c {
			return false
		}
		t = t[n:]
	}
	return t == ""
}

// String returns s in UTF-8.
func (s UTF16) String() string {
	var short [128]byte
	return string(s.AppendTo(short[:0]))
}

// AppendTo appends s in UTF-8 to b.
func (s UTF16) AppendTo(b []byte) []byte {
	i := 0
	// Nearly all strings of events are ASCII. Four units at a time.
	for ; i+8 <= len(s); i += 8 {
		v := binary.LittleEndian.Uint64(s[i:])
		if v&0xff80ff80ff80ff80 != 0 {
			break
		}
		b = append(b, byte(v), byte(v>>16), byte(v>>32), byte(v>>48))
	}
	for c := range s[i:].runes() {
		b = utf8.AppendRune(b, c)
	}
	return b
}

// AppendText is AppendTo. It implements encoding.TextAppender and never fails.
func (s UTF16) AppendText(b []byte) ([]byte, error) { return s.AppendTo(b), nil }

// MarshalText implements encoding.TextMarshaler.
func (s UTF16) MarshalText() ([]byte, error) { return s.AppendTo(nil), nil }

// runes iterates over the characters.
func (s UTF16) runes() iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for i := 0; i+2 <= len(s); i += 2 {
			c := rune(binary.LittleEndian.Uint16(s[i:]))
			if utf16.IsSurrogate(c) {
				var low rune
				if i+4 <= len(s) {
					low = rune(binary.LittleEndian.Uint16(s[i+2:]))
				}
				// DecodeRune gives U+FFFD unless the two are a pair.
				if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
					i += 2
				}
			}
			if !yield(c) {
				return
			}
		}
	}
}

// CutUTF16 returns the string at the start of p, up to a NUL or the end, and the bytes after
// the NUL.
func CutUTF16(p []byte) (s UTF16, rest []byte) {
	if s, next := cutUTF16(p, 0); next <= len(p) {
		return s, p[next:]
	}
	return UTF16(p[:len(p)&^1]), nil
}

// cutUTF16 returns the string of p that starts at off and the offset behind its
// NUL, or without one nil and len(p)+1.
func cutUTF16(p []byte, off int) (UTF16, int) {
	// Sixteen bytes at a time. In v-ones a lane borrows if it is 0, or if a lane
	// below it did; so the lowest lane that is marked is a 0, and the ones above
	// it do not matter.
	i := off
	for ; i+16 <= len(p); i += 16 {
		q := p[i : i+16]
		v, w := binary.LittleEndian.Uint64(q), binary.LittleEndian.Uint64(q[8:])
		if zero := (v - ones) &^ v & highs; zero != 0 {
			i += lowestUnit(zero)
			return UTF16(p[off:i:i]), i + 2
		}
		if zero := (w - ones) &^ w & highs; zero != 0 {
			i += 8 + lowestUnit(zero)
			return UTF16(p[off:i:i]), i + 2
		}
	}
	for ; i+2 <= len(p); i += 2 {
		if p[i]|p[i+1] == 0 {
			return UTF16(p[off:i:i]), i + 2
		}
	}
	return nil, len(p) + 1
}

// indexNUL16 returns the offset of the first UTF-16 NUL of p at or after from,
// on the grid of code units that starts at from, or -1.
func indexNUL16(p []byte, from int) int {
	if s, next := cutUTF16(p, from); next <= len(p) {
		return from + len(s)
	}
	return -1
}

// The lowest and the highest bit of each 16-bit lane of a word.
const (
	ones  = 0x0001000100010001
	highs = 0x8000800080008000
)

// lowestUnit returns the offset in bytes of the lowest lane that has a bit set.
func lowestUnit(v uint64) int { return bits.TrailingZeros64(v) >> 4 << 1 }
