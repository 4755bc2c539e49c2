package show

import (
	"math/bits"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// AppendMS appends a time in milliseconds with four decimals, which is 100 ns.
func AppendMS(b []byte, d time.Duration) []byte {
	n := int64(d)
	if n < 0 {
		b = append(b, '-')
	}
	u := absolute(n)
	u = (u + 50) / 100 // to 100 ns, rounding half away from zero
	b = strconv.AppendUint(b, u/1e4, 10)
	return appendDigits(append(b, '.'), u%1e4, 4)
}

// AppendExactMS appends a time in milliseconds with all its decimals.
func AppendExactMS(b []byte, d time.Duration) []byte {
	n := int64(d)
	if n < 0 {
		b = append(b, '-')
	}
	u := absolute(n)
	b = strconv.AppendUint(b, u/1e6, 10)
	fraction, digits := u%1e6, 6
	if fraction == 0 {
		return b
	}
	for fraction%10 == 0 {
		fraction, digits = fraction/10, digits-1
	}
	return appendDigits(append(b, '.'), fraction, digits)
}

func absolute(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// appendDigits appends n with leading zeros.
func appendDigits(b []byte, n uint64, digits int) []byte {
	var buf [20]byte
	for i := digits - 1; i >= 0; i-- {
		buf[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, buf[:digits]...)
}

// A Stamp writes times. Most have the second of the one before.
type Stamp struct {
	second int64
	known  bool
	text   []byte // up to the second
}

const perSecond = 1e7

// Append appends t in the form of RFC 3339, UTC, with 100 ns.
func (s *Stamp) Append(b []byte, t etw.FileTime) []byte {
	if t < 0 {
		b, _ = t.AppendText(b)
		return b
	}
	if second := int64(t) / perSecond; !s.known || second != s.second {
		s.second, s.known = second, true
		s.text = etw.FileTime(second*perSecond).Time().AppendFormat(s.text[:0], "2006-01-02T15:04:05")
	}
	b = append(b, s.text...)
	b = appendDigits(append(b, '.'), uint64(t)%perSecond, 7)
	return append(b, 'Z')
}

// AppendHex appends n as 0x and lower-case digits.
func AppendHex(b []byte, n uint64) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '0', 'x')
	for shift := max(bits.Len64(n)-1, 0) &^ 3; shift >= 0; shift -= 4 {
		b = append(b, digits[n>>shift&0xf])
	}
	return b
}
