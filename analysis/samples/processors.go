package samples

import (
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Processors has the samples of whoever took them: a recorder of Linux, the kernel of
// Windows, or else the runtime.
type Processors struct {
	Threads *cpu.Analysis
	Kernel  *cpu.Kernel
	Linux   *cpu.Linux
}

// NewProcessors returns all three, with their handlers registered at mux.
func NewProcessors(mux *etw.Mux) *Processors {
	return &Processors{Threads: cpu.New(mux), Kernel: cpu.NewKernel(mux), Linux: cpu.NewLinux(mux)}
}

// SetInterval sets the time between two samples in nanoseconds, which the head of a trace tells; 0
// stands for none.
func (p *Processors) SetInterval(ns int64) {
	p.Kernel.SetInterval(ns)
	p.Linux.SetInterval(ns)
}

// Skip takes a record that is left out of the samples, and may tell how far they are apart. If parts of
// the time of threads are left out, a sample does not stand for the time up to it.
func (p *Processors) Skip(r *etw.Record, parted bool) {
	if p.Kernel.Skip(r); parted {
		p.Threads.Skip(r)
	}
}

// Interval returns the time between two of the samples in nanoseconds, 0 if it is not known.
func (p *Processors) Interval() int64 {
	if res := p.Linux.Result(); res.Samples > 0 {
		return res.Interval
	}
	if res := p.Kernel.Result(); res.Samples+res.Idle > 0 {
		return res.Interval
	}
	return p.Threads.Result().Interval()
}

// Samples returns the samples of the first that has any.
func (p *Processors) Samples() []*stacks.Samples {
	if p.Linux.Result().Samples > 0 {
		return p.Linux.Samples()
	}
	if res := p.Kernel.Result(); res.Samples+res.Idle > 0 {
		return p.Kernel.Samples()
	}
	return p.Threads.Samples()
}
