// Package pace has the time between two samples that the kernel of Windows takes of a processor.
package pace

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Pace follows the interval in the records of a mux. Times are in nanoseconds.
type Pace struct {
	now, before int64
	last        map[int32]int64 // the time of the last sample of each processor
	gaps        gaps
	measured    int64
	of          int   // how many gaps it is measured by
	supposed    int64 // what another trace tells, of which this one is a part
}

// Default is Windows' own interval, a millisecond, and longest the longest that it takes.
const (
	Default = 1e6
	longest = 1e9
)

// Of returns the pace that all handlers of a mux share.
func Of(mux *etw.Mux) *Pace { return etw.Shared(mux, begin) }

func begin(mux *etw.Mux) *Pace {
	p := &Pace{last: make(map[int32]int64)}
	hear.On(mux, func(r *etw.Record, _ *kernel.AnyPerfInfoSample) { p.sample(r) })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyPerfInfoSetInterval) { p.tell(e.Source, e.OldInterval, e.NewInterval) })
	// These say how it is: a trace whose begin is overwritten may have the last of them alone.
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyPerfInfoCollectionStart) {
		p.tell(e.Source, e.NewInterval, e.NewInterval)
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyPerfInfoCollectionEnd) {
		p.tell(e.Source, e.NewInterval, e.NewInterval)
	})
	return p
}

func (p *Pace) sample(r *etw.Record) {
	at := when.Of(r)
	if last, ok := p.last[r.Processor]; ok && at > last {
		p.gaps.add(at - last)
	}
	p.last[r.Processor] = at
}

// Skip takes a record that the analyses of the mux do not have. If it is a sample, the times of those
// that they have tell less without it.
func (p *Pace) Skip(r *etw.Record) {
	if d := (*kernel.PerfInfoSampleV2)(nil).EventDesc(); r.Kind == etw.KindClassic && r.Opcode == d.Opcode && r.Provider == d.Class {
		p.sample(r)
	}
}

// Suppose has an interval be that which the times of samples tell, of those of a whole of which the
// mux has a part. 0 stands for none.
func (p *Pace) Suppose(ns int64) { p.supposed = max(ns, 0) }

// tell takes an interval in units of 100 ns, and that before.
func (p *Pace) tell(source kernel.ProfileSource, before, now uint32) {
	if source != kernel.ProfileSourceProfileTime || now == 0 {
		return
	}
	if p.now == 0 {
		p.before = int64(before) * 100
	}
	p.now = int64(now) * 100
}

// Told returns the interval that the last event tells, 0 before any does.
func (p *Pace) Told() int64 { return p.now }

// Now returns the interval.
func (p *Pace) Now() int64 { return cmp.Or(p.now, p.Before()) }

// Before returns the interval of the samples before any event that tells it: that which the first
// one calls the old one, or that which their times tell. It is to be called when all records
// have been.
func (p *Pace) Before() int64 {
	if p.before > 0 {
		return p.before
	}
	measured := p.Measured()
	if off := measured - Default; measured == 0 || measured > longest || off > -Default/20 && off < Default/20 {
		return Default
	}
	return measured
}

// Measured returns the interval that the times of samples tell, or 0 if they are too few. Where
// processors are idle there may be no samples: times between two are whole intervals, and one is
// the most frequent of these.
func (p *Pace) Measured() int64 {
	if p.supposed > 0 {
		return p.supposed
	}
	if p.of != p.gaps.count {
		p.measured, p.of = p.gaps.interval(), p.gaps.count
	}
	return p.measured
}

// Gaps are times between two samples, or of more than most every so many of them.
type gaps struct {
	list         []int64
	every, count int
}

const most = 1 << 16

func (g *gaps) add(ns int64) {
	if g.every = max(g.every, 1); len(g.list) == most {
		for i := range most / 2 {
			g.list[i] = g.list[2*i]
		}
		g.list = g.list[:most/2]
		g.every *= 2
	}
	if g.count%g.every == 0 {
		g.list = append(g.list, ns)
	}
	g.count++
}

// Gaps that differ by less than near, a fifth of the shortest interval of Windows, are one; least
// of them make an interval.
const (
	near  = 25e3
	least = 4
)

// interval returns the median of the gaps about the most frequent one.
func (g *gaps) interval() int64 {
	list := slices.Clone(g.list)
	slices.Sort(list)
	from, peak, n := 0, int64(0), 0
	for i, gap := range list {
		for list[from] < gap-near {
			from++
		}
		if i+1-from > n {
			peak, n = list[from], i+1-from
		}
	}
	if n < least {
		return 0
	}
	low, _ := slices.BinarySearch(list, peak-peak/4)
	high, _ := slices.BinarySearch(list, peak+peak/4+near)
	if peak > Default && high-low < len(list)*9/10 { // seldom samples may be so far apart
		return Default
	}
	return list[(low+high)/2]
}
