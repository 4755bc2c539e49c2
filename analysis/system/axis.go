package system

import (
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An axis is the time of a machine: ticks of the clock of its first record. The
// records of another trace of the machine, whose clock is another, are put on it.
type axis struct {
	clock *etw.Clock
	begun bool
	first int64
	last  int64
	// bounds are the times that records of a clock can have, if the trace tells.
	bounds map[*etw.Clock]bounds
	own    bounds // of clock
	wrong  uint64 // records that have another time
}

// bounds are the times that a session can have recorded.
type bounds struct {
	from, until int64
	known       bool
}

func (b *bounds) exclude(t int64) bool { return b.known && (t < b.from || t > b.until) }

// boundSlack is how long after the end of a session, or before its start, records may be all
// the same: rundown comes then, and merging adds records.
const boundSlack = time.Minute

// bound says when the session of a clock ended.
func (x *axis) bound(clock *etw.Clock, end etw.FileTime) {
	if clock == nil || clock.Start <= 0 || end < clock.Start {
		return
	}
	length := end.Time().Sub(clock.Start.Time())
	slack := etw.FileTime((length + boundSlack) / 100)
	b := bounds{from: clock.Ticks(clock.Start - slack), until: clock.Ticks(end + slack)}
	b.known = b.from < b.until
	if x.bounds == nil {
		x.bounds = make(map[*etw.Clock]bounds)
	}
	x.bounds[clock] = b
	if clock == x.clock {
		x.own = b
	}
}

// noClock is that of records that have none.
var noClock etw.Clock

// at returns when r was logged. If that cannot be, as its time is damaged, it is when
// the record before it was.
func (x *axis) at(r *etw.Record) int64 {
	t := r.Timestamp
	if r.Clock != x.clock {
		b := x.bounds[r.Clock]
		if b.exclude(t) {
			x.wrong++
			return x.last
		}
		t = x.convert(r)
	} else if x.own.exclude(t) {
		x.wrong++
		return x.last
	}
	if t > x.last {
		x.last = t
	}
	return t
}

// Can reports whether a record can have been logged when it says: else its time is damaged.
func (x *axis) Can(r *etw.Record) bool {
	b := x.own
	if r.Clock != x.clock {
		b = x.bounds[r.Clock]
	}
	return !b.exclude(r.Timestamp)
}

func (x *axis) convert(r *etw.Record) int64 {
	clock := r.Clock
	if clock == nil {
		clock = &noClock
	}
	if !x.begun {
		x.begun, x.clock, x.own = true, clock, x.bounds[clock]
		x.first, x.last = r.Timestamp, r.Timestamp
	}
	if clock == x.clock || *clock == *x.clock {
		return r.Timestamp
	}
	return x.clock.Ticks(clock.FileTime(r.Timestamp))
}

// tooLong reports whether something took longer than the session can have, and so
// is damaged, and counts it.
func (x *axis) tooLong(ticks uint64) bool {
	if x.Fits(ticks) {
		return false
	}
	x.wrong++
	return true
}

// Fits reports whether the session can have taken as long as something in it took.
func (x *axis) Fits(ticks uint64) bool {
	return !x.own.known || ticks <= uint64(x.own.until-x.own.from)
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
