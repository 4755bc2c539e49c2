package etl

import (
	"cmp"

	"github.com/etwgen/etwgen/runtime/etw"
)

// unifyClocks makes the time stamps of several files comparable. Files of one
// session count the same ticks: they get the same clock, and their records are
// compared by ticks, which loses nothing. Otherwise records are compared by
// their times.
func unifyClocks(files []*file) {
	if len(files) < 2 {
		return
	}
	for _, f := range files[1:] {
		if !sameTicks(files[0], f) {
			for _, f := range files {
				f.asFileTimes = true
			}
			return
		}
	}
	first := files[0]
	for _, f := range files[1:] {
		if compareStart(f, first) < 0 {
			first = f
		}
	}
	for _, f := range files {
		f.clock = first.clock
	}
}

func compareStart(a, b *file) int { return cmp.Compare(a.header.Start, b.header.Start) }

// sameTicks reports whether two files count the same ticks: the same clock of
// the same run of a system, which stood at 0 at the same time. The files of one
// recording agree to some 50 microseconds, since a system reads its two clocks
// one after the other; over days they drift.
func sameTicks(a, b *file) bool {
	const tolerance = etw.FileTime(1e7)
	if a.header.ClockType != b.header.ClockType || a.header.Frequency != b.header.Frequency {
		return false
	}
	d := a.clock.FileTime(0) - b.clock.FileTime(0)
	return -tolerance < d && d < tolerance
}

// slack returns how far the earliest record of a buffer may lie before the first
// one, in the unit of keys. An event that interrupts the logging of another may
// be stored after it with an earlier time; without buffers for each processor,
// that of another processor may.
func (f *file) slack() int64 {
	frequency := f.header.Frequency
	if f.asFileTimes {
		frequency = 1e7
	}
	if f.header.Mode&ModeNoPerProcessor != 0 {
		return frequency / 50
	}
	return frequency / 1000
}
