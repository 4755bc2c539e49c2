package code

import (
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/trace"
)

// apart says how far samples are from each other.
func apart(res *cpu.KernelResult) string {
	text, measured := show.MS(float64(res.Interval)/1e6), show.MS(float64(res.Measured)/1e6)
	if res.Measured > 0 && measured != text {
		return text + " apart, measured " + measured
	}
	return text + " apart"
}

// SamplingInterval returns the time between two samples in nanoseconds, as the head of a
// trace tells it, or the mark of a part, or 0. Of a live process there is none.
func SamplingInterval(t *trace.Trace) int64 {
	if t == nil {
		return 0
	}
	for _, f := range t.Files() {
		if interval := f.Head().SamplingInterval; interval > 0 {
			return int64(interval)
		}
		if p := f.Part(); p != nil && p.Interval > 0 {
			return p.Interval
		}
	}
	return 0
}
