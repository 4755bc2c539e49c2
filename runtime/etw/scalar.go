package etw

import (
	"encoding/binary"
	"strconv"
	"time"
)

// A Pointer is an address or another value of the size of a pointer. It prints
// in hexadecimal.
type Pointer uint64

// AppendText appends p as 0x and at least one hexadecimal digit. It implements
// encoding.TextAppender and never fails.
func (p Pointer) AppendText(b []byte) ([]byte, error) {
	return strconv.AppendUint(append(b, "0x"...), uint64(p), 16), nil
}

// MarshalText implements encoding.TextMarshaler.
func (p Pointer) MarshalText() ([]byte, error) { return p.AppendText(nil) }

// String returns p as 0x and hexadecimal digits.
func (p Pointer) String() string { return "0x" + strconv.FormatUint(uint64(p), 16) }

// A Bool is a Boolean of 4 bytes as it was logged: 0 is false and all else is
// true.
type Bool uint32

// The canonical Booleans.
const (
	False Bool = 0
	True  Bool = 1
)

// True reports whether b is true.
func (b Bool) True() bool { return b != 0 }

// String returns "true" or "false".
func (b Bool) String() string { return strconv.FormatBool(b != 0) }

// MarshalJSON returns true or false.
func (b Bool) MarshalJSON() ([]byte, error) { return strconv.AppendBool(nil, b != 0), nil }

// A Bool8 is a Boolean of one byte as it was logged: 0 is false and all else is true.
// Self-describing EventSources have it.
type Bool8 uint8

// True reports whether b is true.
func (b Bool8) True() bool { return b != 0 }

// String returns "true" or "false".
func (b Bool8) String() string { return strconv.FormatBool(b != 0) }

// MarshalJSON returns true or false.
func (b Bool8) MarshalJSON() ([]byte, error) { return strconv.AppendBool(nil, b != 0), nil }

// A SystemTime is a Windows SYSTEMTIME: a date and a time of day to 1 ms. Its time zone
// depends on the event; it is UTC for most.
type SystemTime struct {
	Year, Month, DayOfWeek, Day        uint16
	Hour, Minute, Second, Milliseconds uint16
}

// Time returns t as a time in UTC. The day of the week is ignored.
func (t SystemTime) Time() time.Time {
	seconds := time.Date(int(t.Year), time.Month(t.Month), int(t.Day), int(t.Hour), int(t.Minute), int(t.Second), 0, time.UTC)
	return seconds.Add(time.Duration(t.Milliseconds) * time.Millisecond) // which may be more than an int has of nanoseconds
}

// SystemTimeOf returns t, in UTC, as a SystemTime, cut to 1 ms.
func SystemTimeOf(t time.Time) SystemTime {
	t = t.UTC()
	return SystemTime{
		Year: uint16(t.Year()), Month: uint16(t.Month()), DayOfWeek: uint16(t.Weekday()), Day: uint16(t.Day()),
		Hour: uint16(t.Hour()), Minute: uint16(t.Minute()), Second: uint16(t.Second()),
		Milliseconds: uint16(t.Nanosecond() / 1e6),
	}
}

// String returns t in the form of RFC 3339 with 1 ms, and "unset" for the zero value, which
// is no date: its month and its day are 0.
func (t SystemTime) String() string {
	b, _ := t.AppendText(make([]byte, 0, 24))
	return string(b)
}

// AppendText appends the form of String. It implements encoding.TextAppender
// and never fails.
func (t SystemTime) AppendText(b []byte) ([]byte, error) {
	if t == (SystemTime{}) {
		return append(b, "unset"...), nil
	}
	return t.Time().AppendFormat(b, "2006-01-02T15:04:05.000Z"), nil
}

// MarshalText implements encoding.TextMarshaler.
func (t SystemTime) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// LoadSystemTime reads a SystemTime from the first 16 bytes of p.
func LoadSystemTime(p []byte) SystemTime {
	_ = p[15]
	return SystemTime{
		Year: binary.LittleEndian.Uint16(p[0:]), Month: binary.LittleEndian.Uint16(p[2:]),
		DayOfWeek: binary.LittleEndian.Uint16(p[4:]), Day: binary.LittleEndian.Uint16(p[6:]),
		Hour: binary.LittleEndian.Uint16(p[8:]), Minute: binary.LittleEndian.Uint16(p[10:]),
		Second: binary.LittleEndian.Uint16(p[12:]), Milliseconds: binary.LittleEndian.Uint16(p[14:]),
	}
}

// AppendSystemTime appends the 16 bytes of t.
func AppendSystemTime(b []byte, t SystemTime) []byte {
	for _, v := range [8]uint16{t.Year, t.Month, t.DayOfWeek, t.Day, t.Hour, t.Minute, t.Second, t.Milliseconds} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}
