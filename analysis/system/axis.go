package system

import (
	"github.com/etwgen/etwgen/runtime/etw"
)

// An axis is the time of a machine: ticks of the clock of its first record. The
// records of another trace of the machine, whose clock is another, are put on it.
type axis struct {
	clock *etw.Clock
	begun bool
	first int64
	last  int64
}

// noClock is that of records that have none.
var noClock etw.Clock

// at returns when r was logged.
func (x *axis) at(r *etw.Record) int64 {
	t := r.Timestamp
	if r.Clock != x.clock {
		t = x.convert(r)
	}
	if t > x.last {
		x.last = t
	}
	return t
}

func (x *axis) convert(r *etw.Record) int64 {
	clock := r.Clock
	if clock == nil {
		clock = &noClock
	}
	if !x.begun {
		x.begun, x.clock = true, clock
		x.first, x.last = r.Timestamp, r.Timestamp
	}
	if clock == x.clock || *clock == *x.clock {
		return r.Timestamp
	}
	return x.clock.Ticks(clock.FileTime(r.Timestamp))
}

func (x *axis) frequency() float64 {
	if x.clock == nil || x.clock.Frequency <= 0 {
		return 1e7
	}
	return float64(x.clock.Frequency)
}

// ms returns a length of time in milliseconds.
func (x *axis) ms(ticks float64) float64 { return ticks * 1e3 / x.frequency() }

// since returns a time in milliseconds since the session began.
func (x *axis) since(at int64) float64 {
	if x.clock == nil {
		return 0
	}
	return x.ms(float64(at) - float64(x.clock.Origin))
}

// A Lifetime is when something was there: from Start, unless it was there before
// the recording or its start is unknown, to End, unless it outlived the recording.
// Both are ticks: see [Machine.Time].
type Lifetime struct {
	Start, End     int64
	Started, Ended bool
}

// Covers reports whether something was there at a time, as far as is known.
func (l *Lifetime) Covers(at int64) bool {
	return (!l.Started || l.Start <= at) && (!l.Ended || at <= l.End)
}

func (l *Lifetime) start(at int64) { l.Start, l.Started = at, true }

func (l *Lifetime) end(at int64) {
	if l.Started && at < l.Start {
		at = l.Start
	}
	l.End, l.Ended = at, true
}
