package etl

import (
	"cmp"
	"slices"

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
	for i, f := range files {
		f.clockGroup = slices.IndexFunc(files[:i+1], func(g *file) bool { return sameTicks(g, f) })
	}
	if slices.ContainsFunc(files, func(f *file) bool { return f.clockGroup > 0 }) {
		for _, f := range files {
			f.asFileTimes = true
		}
		return
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

func compareStart(a, b *file) int { return cmp.Compare(a.clock.Start, b.clock.Start) }

// sameTicks reports whether two files count the same ticks: the same clock of
// the same run of a system, which stood at 0 at the same time. The files of one
// recording agree to some 50 microseconds, since a system reads its two clocks
// one after the other; over days they drift.
func sameTicks(a, b *file) bool {
	const tolerance = etw.FileTime(1e7)
	if a.header.ClockType != b.header.ClockType || a.clock.Frequency != b.clock.Frequency {
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
	frequency := f.clock.Frequency
	if f.asFileTimes {
		frequency = 1e7
	}
	if f.header.Mode&ModeNoPerProcessor != 0 {
		return frequency / 50
	}
	return frequency / 1000
}
