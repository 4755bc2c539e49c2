// Package when puts the records of several sources on one scale of time.
package when

import (
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
)

// unixEpoch is 1970-01-01 as a FileTime.
const unixEpoch = 116444736000000000

// Of returns the time of a record in nanoseconds since 1970, UTC. Times that no
// file has but a damaged one are clamped.
func Of(r *etw.Record) int64 {
	if r.Clock == nil {
		return r.Timestamp
	}
	return add(start(r.Clock), int64(r.Clock.Elapsed(r.Timestamp)))
}

// Origin returns the time at which the session of a record began, on the same scale.
func Origin(r *etw.Record) int64 {
	if r.Clock == nil {
		return 0
	}
	return start(r.Clock)
}

func start(c *etw.Clock) int64 {
	const most = math.MaxInt64 / 100
	return min(max(int64(c.Start)-unixEpoch, -most), most) * 100
}

// add is a+b, clamped so that later differences of two times do not overflow.
func add(a, b int64) int64 {
	const most = math.MaxInt64 / 2
	a, b = min(max(a, -most), most), min(max(b, -most), most)
	return min(max(a+b, -most), most)
}

// FileTime returns a time of this scale as a FileTime.
func FileTime(at int64) etw.FileTime { return etw.FileTime(at/100 + unixEpoch) }
