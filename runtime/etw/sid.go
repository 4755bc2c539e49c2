package etw

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// A SID is a Windows security identifier as a payload holds it. It is a view of
// the payload and prints as S-1-5-18 does.
type SID []byte

// sidLen returns the length of the SID that p starts with, or -1 if p is cut
// off before its end.
func sidLen(p []byte) int {
	if len(p) < 8 {
		return -1
	}
	if n := 8 + 4*int(p[1]); n <= len(p) {
		return n
	}
	return -1
}

// MakeSID returns the SID of an authority below 1<<48 with its subauthorities,
// of which there are at most 255.
func MakeSID(authority uint64, sub ...uint32) SID {
	s := SID{1, byte(len(sub)), byte(authority >> 40), byte(authority >> 32), byte(authority >> 24),
		byte(authority >> 16), byte(authority >> 8), byte(authority)}
	for _, v := range sub {
		s = binary.LittleEndian.AppendUint32(s, v)
	}
	return s
}

// Valid reports whether s has the length that its own bytes give it.
func (s SID) Valid() bool { return len(s) >= 8 && sidLen(s) == len(s) }

// Equal reports whether s and t are the same bytes.
func (s SID) Equal(t SID) bool { return bytes.Equal(s, t) }

// String returns the S-1- form, or the bytes in hexadecimal if s is not valid.
func (s SID) String() string {
	b, _ := s.AppendText(nil)
	return string(b)
}

// AppendText appends the form of String. It implements encoding.TextAppender
// and never fails.
func (s SID) AppendText(b []byte) ([]byte, error) {
	if !s.Valid() {
		return Binary(s).AppendText(b)
	}
	b = append(b, "S-"...)
	b = strconv.AppendUint(b, uint64(s[0]), 10)
	b = append(b, '-')
	authority := uint64(binary.BigEndian.Uint16(s[2:]))<<32 | uint64(binary.BigEndian.Uint32(s[4:]))
	if authority < 1<<32 {
		b = strconv.AppendUint(b, authority, 10)
	} else { // Windows prints large authorities in hexadecimal.
		b = appendHex(append(b, "0x"...), authority, 12)
	}
	for i := 8; i < len(s); i += 4 {
		b = append(b, '-')
		b = strconv.AppendUint(b, uint64(binary.LittleEndian.Uint32(s[i:])), 10)
	}
	return b, nil
}

// MarshalText implements encoding.TextMarshaler.
func (s SID) MarshalText() ([]byte, error) { return s.AppendText(nil) }
