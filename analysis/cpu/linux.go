package cpu

import (
	"cmp"
	"encoding/binary"
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/pace"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Linux follows the samples that recorders of Linux take of each processor.
type Linux struct {
	interval int64
	base     *stacks.Samples // has the stacks
	taken    series[ticked]
	threads  threads
	last     map[int32]int64 // the time of the last sample of each processor
	gaps     []int64
}

// maxGaps is how many times between samples are enough to know their median.
const maxGaps = 1 << 16

// A ticked is a sample that stands for some intervals. There may be millions of them.
type ticked struct {
	at        int64
	stack     stacks.ID
	thread    int32 // the number of one of the threads
	intervals int32 // negative if the kernel ran
}

// NeedsLinux are the samples of a [Linux].
var NeedsLinux = []need.Need{{What: "samples of processors", Recorder: "dotnet-trace collect-linux, which takes them unless told otherwise",
	Kernel: [3]need.Events{{Provider: "Universal.Events/cpu"}}}}

// NewLinux returns an analysis whose handlers are registered at mux.
func NewLinux(mux *etw.Mux) *Linux {
	l := &Linux{last: make(map[int32]int64),
		base: stacks.NewSamples(CPU, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "cpu", Unit: "nanoseconds"})}
	mux.HandleRest(l.record)
	return l
}

// SetInterval sets the time between two samples in nanoseconds, which the head of the
// trace tells. Without, it is measured.
func (l *Linux) SetInterval(ns int64) { l.interval = max(ns, 0) }

// record takes a record that no handler does: samples are events without a fixed number.
func (l *Linux) record(r *etw.Record) error {
	if r.Schema == nil || r.Schema.Name != "cpu" || r.ProviderName != "Universal.Events" {
		return nil
	}
	intervals, n := binary.Uvarint(r.Payload)
	if n <= 0 || intervals > math.MaxInt32 {
		return nil
	}
	at := when.Of(r)
	if last, ok := l.last[r.Processor]; ok && at > last && intervals > 0 && len(l.gaps) < maxGaps {
		l.gaps = append(l.gaps, (at-last)/int64(intervals))
	}
	l.last[r.Processor] = at
	x := ticked{at: at, thread: l.threads.number(thread{r.ProcessID, r.ThreadID}), stack: l.base.Intern(r.ProcessID, r.Stack), intervals: int32(intervals)}
	if r.Stack.Len() > 0 && isKernel(r.Stack.At(0)) {
		x.intervals = -x.intervals
	}
	l.taken.add(x)
	return nil
}

// Measured returns the median time between two samples of one processor for each
// interval that the later one stands for, in nanoseconds, or 0 if there are too few. Where
// processors are mostly idle, of which there are no samples, it is more than the interval.
func (l *Linux) Measured() int64 { return median(l.gaps) }

// Result describes the samples.
func (l *Linux) Result() *KernelResult {
	res := &KernelResult{Samples: l.taken.n, Stacks: l.taken.n, Measured: l.Measured()}
	res.Interval = cmp.Or(l.interval, res.Measured, pace.Default)
	for _, x := range l.taken.all() {
		intervals := int64(x.intervals)
		res.Weight = int64(measure.Plus(uint64(res.Weight), uint64(stoodFor(max(intervals, -intervals), res.Interval))))
	}
	return res
}

// Samples returns the samples.
func (l *Linux) Samples() []*stacks.Samples {
	out := l.base.Derive()
	out.LabelCode()
	interval := cmp.Or(l.interval, l.Measured(), pace.Default)
	inKernel, inUser := out.Label(0, "state", "kernel"), out.Label(0, "state", "user")
	out.Grow(l.taken.n)
	for _, x := range l.taken.all() {
		state, intervals := inUser, int64(x.intervals)
		if intervals < 0 {
			state, intervals = inKernel, -intervals
		}
		t := &l.threads.list[x.thread]
		out.AddStack(time.Unix(0, x.at), t.process, t.id, x.stack, state, 1, stoodFor(intervals, interval))
	}
	return []*stacks.Samples{out}
}

// stoodFor returns the time that a sample of so many intervals stands for, in nanoseconds.
func stoodFor(intervals, interval int64) int64 {
	if interval > 0 && intervals > measure.Most/interval {
		return measure.Most
	}
	return intervals * interval
}
