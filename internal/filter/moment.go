package filter

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Moment is a time of day or a time since the start of a session.
type Moment struct {
	Absolute bool
	Time     etw.FileTime
	Elapsed  time.Duration
}

// ParseMoment reads a time as RFC 3339 has it, a number of milliseconds, or a
// duration with a unit such as 1.5s.
func ParseMoment(text string) (Moment, error) {
	if ms, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(ms) < float64(math.MaxInt64)/1e6 {
		return Moment{Elapsed: time.Duration(math.Round(ms * 1e6))}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return Moment{Elapsed: d}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return Moment{Absolute: true, Time: etw.FileTimeOf(t)}, nil
	}
	return Moment{}, fmt.Errorf("%q is neither a time such as 2024-05-01T10:00:00Z, nor milliseconds such as 1500, nor a duration such as 1.5s", text)
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
