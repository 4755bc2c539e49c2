package lives

import (
	"math"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Time is the clock of one process. Times are ticks of that clock, as int64;
// they are turned into milliseconds only for results, so that sums are exact.
//
// Times never go back: a record that is older than the one before it counts as
// logged at the same moment, and is counted. Neither do they go further than
// maxSpan from the first, so that no difference and no sum of a damaged trace
// overflows.
type Time struct {
	clock *etw.Clock
	First int64 // time of the first record
	Now   int64 // time of the last record
	Late  int   // records that came after younger ones
	mux   *etw.Mux
	over  bool // the process ended
	file  string
	files []string // that the records are from
}

// maxSpan is more than a year of nanoseconds.
const maxSpan = 1 << 55

var noClock etw.Clock

func (t *Time) begin(r *etw.Record) {
	t.clock = r.Clock
	if t.clock == nil {
		t.clock = &noClock
	}
	// The rest of 64 bits is for the distance from the first record.
	t.First = min(max(r.Timestamp, math.MinInt64/2), math.MaxInt64/2)
	t.Now = t.First
	t.file, t.files = r.File, []string{r.File}
}

// Notice notes the time of a record that is about the runtime, whoever wrote it.
func (t *Time) Notice(r *etw.Record) { t.observe(r) }

func (t *Time) observe(r *etw.Record) {
	if r.File != t.file {
		if t.file = r.File; !slices.Contains(t.files, r.File) {
			t.files = append(t.files, r.File)
		}
	}
	ts := r.Timestamp
	if r.Clock != t.clock && r.Clock != nil && *r.Clock != *t.clock {
		ts = t.clock.Ticks(r.Clock.FileTime(ts))
	}
	if ts > t.Now {
		t.Now = min(ts, t.First+maxSpan)
	} else if ts < t.Now {
		t.Late++
	}
}

// End returns when the recordings of the runtime end, or the process if that is told: until then lasts
// whatever is not over. The last record of the runtime can be long before, such as of a thread that
// hangs, and recordings of the machine can go on for longer.
func (t *Time) End() int64 {
	if t.over || t.mux == nil {
		return t.Now
	}
	end := t.Now
	for _, file := range t.files {
		if latest, ok := t.mux.Latest(t.clock, file); ok {
			end = max(end, latest)
		}
	}
	return min(end, t.First+maxSpan)
}

// Lost reports whether events of a thread of a process, or with -1 of any of its threads, were lost since
// a time: the end of a wait that began then may be among them.
func (t *Time) Lost(process, thread, since int64) bool {
	return t.mux != nil && t.mux.LostSince(process, thread, since)
}

// Span returns the ticks from the first to the last record.
func (t *Time) Span() int64 { return t.Now - t.First }

func (t *Time) frequency() float64 {
	if t.clock.Frequency <= 0 {
		return 1e7
	}
	return float64(t.clock.Frequency)
}

// MS returns a number of ticks in milliseconds. As in the methods below, its code is not copied to
// where it is called, and to all types that have a Time within.
//
//go:noinline
func (t *Time) MS(ticks int64) float64 { return float64(ticks) * 1e3 / t.frequency() }

// Ticks returns the number of ticks of a time.
//
//go:noinline
func (t *Time) Ticks(d time.Duration) int64 { return int64(float64(d) * t.frequency() / 1e9) }

// Elapsed returns how long after the begin of the session that was.
//
//go:noinline
func (t *Time) Elapsed(ticks int64) time.Duration { return t.clock.Elapsed(ticks) }

// When returns when that was.
func (t *Time) When(ticks int64) time.Time { return t.clock.FileTime(ticks).Time() }

// At returns a time in milliseconds since the session began.
//
//go:noinline
func (t *Time) At(ticks int64) float64 {
	since := ticks - t.clock.Origin
	if (ticks < t.clock.Origin) != (since < 0) { // it overflows
		return (float64(ticks) - float64(t.clock.Origin)) * 1e3 / t.frequency()
	}
	return t.MS(since)
}

// Within returns a window in ticks of the clock.
//
//go:noinline
func (t *Time) Within(w *window.Window) window.Window { return w.Ticks(t.clock) }

// Origin returns the time at which the session began.
func (t *Time) Origin() int64 { return t.clock.Origin }
