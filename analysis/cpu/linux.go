package cpu

import (
	"encoding/binary"
	"math"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Linux follows the samples that recorders of Linux take of each processor.
type Linux struct {
	interval int64
	base     *stacks.Samples // has the stacks
	taken    []ticked
	last     map[int32]int64 // the time of the last sample of each processor
	gaps     []int64
}

// A ticked is a sample that stands for some intervals.
type ticked struct {
	at, pid, tid int64
	stack        stacks.ID
	intervals    int32
	kernel       bool
}

// NewLinux returns an analysis. interval is the time between two samples in nanoseconds,
// which the head of the trace tells; if that is 0, it is measured.
func NewLinux(interval int64) *Linux {
	return &Linux{interval: max(interval, 0), last: make(map[int32]int64),
		base: stacks.NewSamples(CPU, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "cpu", Unit: "nanoseconds"})}
}

// Record takes a record that no handler does: samples are events without a fixed number.
// It is for [etw.Mux.HandleRest].
func (l *Linux) Record(r *etw.Record) error {
	if r.Schema == nil || r.Schema.Name != "cpu" || r.ProviderName != "Universal.Events" {
		return nil
	}
	intervals, n := binary.Uvarint(r.Payload)
	if n <= 0 || intervals > math.MaxInt32 {
		return nil
	}
	at := when.Of(r)
	if last, ok := l.last[r.Processor]; ok && at > last && intervals > 0 {
		l.gaps = append(l.gaps, (at-last)/int64(intervals))
	}
	l.last[r.Processor] = at
	l.taken = append(l.taken, ticked{at: at, pid: r.ProcessID, tid: r.ThreadID, stack: l.base.Intern(r.ProcessID, r.Stack),
		intervals: int32(intervals), kernel: r.Stack.Len() > 0 && isKernel(r.Stack.At(0))})
	return nil
}

// Measured returns the median time between two samples of one processor for each
// interval that the later one stands for, in nanoseconds, or 0 if there are too few. Where
// processors are mostly idle, of which there are no samples, it is more than the interval.
func (l *Linux) Measured() int64 { return median(l.gaps) }

// Samples returns the samples, and what there is of them.
func (l *Linux) Samples() (*stacks.Samples, KernelResult) {
	out := l.base.Derive()
	out.LabelCode()
	res := KernelResult{Samples: len(l.taken), Stacks: len(l.taken), Measured: l.Measured(), Interval: l.interval}
	if res.Interval == 0 {
		res.Interval = res.Measured
	}
	if res.Interval == 0 {
		res.Interval = defaultInterval
	}
	inKernel, inUser := out.Label(0, "state", "kernel"), out.Label(0, "state", "user")
	for i := range l.taken {
		x := &l.taken[i]
		state := inUser
		if x.kernel {
			state = inKernel
		}
		weight := int64(x.intervals) * res.Interval
		res.Weight += weight
		out.AddStack(x.at, x.pid, x.tid, x.stack, state, 1, weight)
	}
	return out, res
}
