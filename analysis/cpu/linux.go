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
	samples  *stacks.Samples
	interval int64
	weight   int64
}

// NewLinux returns an analysis. interval is the time between two samples in nanoseconds,
// which the head of the trace tells; 0 is a millisecond.
func NewLinux(interval int64) *Linux {
	if interval <= 0 {
		interval = defaultInterval
	}
	return &Linux{interval: interval, samples: stacks.NewSamples(CPU, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "cpu", Unit: "nanoseconds"})}
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
	state := "user"
	if r.Stack.Len() > 0 && isKernel(r.Stack.At(0)) {
		state = "kernel"
	}
	weight := int64(intervals) * l.interval
	l.weight += weight
	l.samples.AddStack(when.Of(r), r.ProcessID, r.ThreadID, l.samples.Intern(r.ProcessID, r.Stack), l.samples.Label(0, "state", state), 1, weight)
	return nil
}

// Samples returns the samples, and what there is of them.
func (l *Linux) Samples() (*stacks.Samples, KernelResult) {
	return l.samples, KernelResult{Samples: l.samples.Len(), Stacks: l.samples.Len(), Weight: l.weight, Interval: l.interval}
}
