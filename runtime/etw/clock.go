package etw

import (
	"math/bits"
	"time"
)

// A Clock turns the time stamps of a session into times.
type Clock struct {
	Start     FileTime // UTC when the session's clock stood at Origin
	Origin    int64    // ticks
	Frequency int64    // ticks per second; 0 counts as 1e7
}

// FileTime returns the UTC time of the time stamp ticks, to 100 ns.
func (c *Clock) FileTime(ticks int64) FileTime {
	return c.Start + FileTime(c.scale(ticks-c.Origin, 1e7))
}

// Elapsed returns the time from Origin to the time stamp ticks, to 1 ns.
func (c *Clock) Elapsed(ticks int64) time.Duration {
	return time.Duration(c.scale(ticks-c.Origin, 1e9))
}

// Ticks returns the time stamp of the time t, the inverse of FileTime up to
// rounding.
func (c *Clock) Ticks(t FileTime) int64 {
	f := c.frequency()
	return c.Origin + muldiv(int64(t-c.Start), f, 1e7)
}

// Convert returns the ticks of c at the moment at which from stood at the given
// ticks. Between clocks of one frequency it is exact if their Starts are a whole
// number of ticks apart.
func (c *Clock) Convert(ticks int64, from *Clock) int64 {
	to, of := c.frequency(), from.frequency()
	between := c.Origin + muldiv(int64(from.Start-c.Start), to, 1e7)
	if to == of {
		return between + ticks - from.Origin
	}
	return between + muldiv(ticks-from.Origin, to, of)
}

func (c *Clock) frequency() int64 {
	if c.Frequency <= 0 {
		return 1e7
	}
	return c.Frequency
}

// scale converts ticks to units of which a second has perSecond.
func (c *Clock) scale(ticks, perSecond int64) int64 {
	f := c.frequency()
	switch {
	case f == perSecond:
		return ticks
	case f == 1e7 && perSecond == 1e9:
		if ticks > -1e16 && ticks < 1e16 {
			return ticks * 100
		}
	}
	return muldiv(ticks, perSecond, f)
}

// muldiv returns a*b/c in 128 bits, toward negative infinity, so that times before the
// origin are cut to the same grid as those after it. A value that does not fit 64 bits,
// which only a damaged time stamp can cause, is clamped.
func muldiv(a, b, c int64) int64 {
	neg := a < 0
	ua := uint64(a)
	if neg {
		ua = -ua
	}
	hi, lo := bits.Mul64(ua, uint64(b))
	if hi >= uint64(c) {
		if neg {
			return -1 << 63
		}
		return 1<<63 - 1
	}
	q, rem := bits.Div64(hi, lo, uint64(c))
	if neg {
		if rem != 0 {
			q++
		}
		if q > 1<<63 {
			return -1 << 63
		}
		return int64(-q)
	}
	if q > 1<<63-1 {
		return 1<<63 - 1
	}
	return int64(q)
}

// A FileTime is a Windows FILETIME: 100 ns intervals since the start of 1601,
// UTC.
type FileTime int64

// fileTimeUnix is the Unix epoch as a FileTime.
const fileTimeUnix = 116444736000000000

// Time returns t as a time in UTC.
func (t FileTime) Time() time.Time {
	d := int64(t) - fileTimeUnix
	return time.Unix(d/1e7, d%1e7*100).UTC()
}

// FileTimeOf returns t as a FileTime, cut to 100 ns.
func FileTimeOf(t time.Time) FileTime {
	return FileTime(t.Unix()*1e7 + int64(t.Nanosecond()/100) + fileTimeUnix)
}

// String returns t in the form of RFC 3339 with 100 ns.
func (t FileTime) String() string {
	b, _ := t.AppendText(make([]byte, 0, 28))
	return string(b)
}

// AppendText appends the form of String. It implements encoding.TextAppender
// and never fails.
func (t FileTime) AppendText(b []byte) ([]byte, error) {
	return t.Time().AppendFormat(b, "2006-01-02T15:04:05.0000000Z"), nil
}

// MarshalText implements encoding.TextMarshaler.
func (t FileTime) MarshalText() ([]byte, error) { return t.AppendText(nil) }
