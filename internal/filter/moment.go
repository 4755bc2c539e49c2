package filter

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Moment is a time, or a time since the start of a session.
type Moment struct {
	Absolute bool
	Time     etw.FileTime
	Elapsed  time.Duration

	ofDay *time.Time // a time of day: Absolute once it is resolved
	zone  *time.Location
}

// Forms of times. Those without a zone are in one that the caller names.
var (
	datedForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}
	dailyForms = []string{"15:04:05", "15:04"}
)

// ParseMoment reads a time with or without a date, a number of milliseconds, or a
// duration with a unit such as 1.5s. Times that do not say their zone are in the
// given one.
func ParseMoment(text string, zone *time.Location) (Moment, error) {
	if ms, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(ms) < float64(math.MaxInt64)/1e6 {
		return Moment{Elapsed: time.Duration(math.Round(ms * 1e6))}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return Moment{Elapsed: d}, nil
	}
	for _, form := range datedForms {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return Moment{Absolute: true, Time: etw.FileTimeOf(t)}, nil
		}
	}
	for _, form := range dailyForms {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return Moment{ofDay: &t, zone: zone}, nil
		}
	}
	return Moment{}, fmt.Errorf("%q is neither a time such as 2024-05-01T10:00:00Z or 10:00:05, nor milliseconds such as 1500, nor a duration such as 1.5s", text)
}

// Resolve gives a time of day its date: that on which a session started at start,
// or the next one if it had passed by then.
func (m *Moment) Resolve(start time.Time) {
	if m == nil || m.ofDay == nil {
		return
	}
	year, month, day := start.In(m.zone).Date()
	clock := m.ofDay
	at := time.Date(year, month, day, clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), m.zone)
	if at.Before(start.Truncate(time.Second)) {
		at = at.AddDate(0, 0, 1)
	}
	m.Absolute, m.Time, m.ofDay = true, etw.FileTimeOf(at), nil
}

// Since returns how long m is after the start of a session.
func (m *Moment) Since(start etw.FileTime) time.Duration {
	if !m.Absolute {
		return m.Elapsed
	}
	const most = math.MaxInt64 / 100
	return 100 * time.Duration(min(max(int64(m.Time)-int64(start), -most), most))
}

// In returns m in the time of a session that started at start; that of nil is zero.
func (m *Moment) In(start time.Time) time.Time {
	if m == nil {
		return time.Time{}
	}
	m.Resolve(start)
	most := time.Duration(math.MaxInt64 - max(start.UnixNano(), 0)) // nanoseconds since 1970 end in 2262
	return start.Add(min(m.Since(etw.FileTimeOf(start)), most))
}

// NotBefore reports whether m is certainly at or after the moment end.
func (m *Moment) NotBefore(end *Moment) bool {
	switch {
	case m == nil || end == nil || m.Absolute != end.Absolute || (m.ofDay == nil) != (end.ofDay == nil):
		return false
	case m.ofDay != nil:
		return m.ofDay.Equal(*end.ofDay)
	case m.Absolute:
		return m.Time >= end.Time
	}
	return m.Elapsed >= end.Elapsed
}

// compare returns how a record that was logged the given time after the start of
// the session lies to m: before, at or after it.
func (m *Moment) compare(r *etw.Record, elapsed time.Duration) int {
	a, b := int64(elapsed), int64(m.Elapsed)
	if m.Absolute {
		a, b = int64(r.Clock.FileTime(r.Timestamp)), int64(m.Time)
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
