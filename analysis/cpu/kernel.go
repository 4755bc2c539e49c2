package cpu

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// CPU is the kind of samples that the kernel of Windows takes: of code that runs on a
// processor.
const CPU = "cpu"

// A Kernel follows the samples that the kernel of Windows takes of each processor. Each
// stands for the interval between two, which may change. The idle threads are left out.
type Kernel struct {
	machine  *system.Machine
	bound    *system.Stacks[interrupted]
	interval int64 // between samples, in nanoseconds
	list     []interrupted
	most     int   // of list, until there is no room
	slot     int64 // see room.go
	idle     int
	last     map[int32]int64 // the time of the last sample of each processor
	gaps     gaps
}

// An interrupted is a sample: the thread and code when the timer ticked. Where there are many, it
// stands for as many as times says.
type interrupted struct {
	thread  *system.Thread
	at      int64
	weight  int64
	address uint64
	stack   system.CallStack
	times   int64
}

// defaultInterval is Windows' own interval: a millisecond.
const defaultInterval = 1e6

// NeedsKernel are the samples of a [Kernel].
var NeedsKernel = []need.Need{need.Samples}

// NewKernel returns an analysis whose handlers are registered at mux.
func NewKernel(mux *etw.Mux) *Kernel {
	k := &Kernel{machine: system.Of(mux), interval: defaultInterval, most: mostSamples, last: make(map[int32]int64)}
	k.bound = system.BindStacks(mux, func(s interrupted, c system.CallStack) {
		s.stack = c
		k.keep(s)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyPerfInfoSample) { k.sample(r, e) })
	interval := func(source kernel.ProfileSource, length uint32) {
		if source == kernel.ProfileSourceProfileTime && length > 0 {
			k.interval = int64(length) * 100
		}
	}
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyPerfInfoCollectionStart) { interval(e.Source, e.NewInterval) })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyPerfInfoSetInterval) { interval(e.Source, e.NewInterval) })
	return k
}

func (k *Kernel) sample(r *etw.Record, e *kernel.AnyPerfInfoSample) {
	at := when.Of(r)
	if last, ok := k.last[r.Processor]; ok && at > last {
		k.gaps.add(at - last)
	}
	k.last[r.Processor] = at
	if e.ThreadID == 0 {
		k.idle++
		return
	}
	k.bound.Await(r, int64(e.ThreadID), interrupted{thread: k.machine.HasThread(int64(e.ThreadID), r.ProcessID), at: at,
		weight: k.interval, address: uint64(e.InstructionPointer), times: 1})
}

// A KernelResult describes the samples.
type KernelResult struct {
	Samples int   // without those of idle threads
	Idle    int   // of idle threads
	Stacks  int   // of Samples, those with a stack
	Weight  int64 // what Samples stand for, in nanoseconds
	// Interval is the last one between two samples, in nanoseconds, as the trace has it, and
	// Measured the interval that the times of samples tell, or 0.
	Interval int64
	Measured int64
	// Undefined are compressed stacks whose addresses the trace does not have, as they come
	// later than the samples, and Misdefined those of which it has others than theirs.
	Undefined, Misdefined int
}

// Result describes the samples. It is to be called when all records have been.
func (k *Kernel) Result() *KernelResult {
	k.bound.Flush()
	bound := k.bound.Stats()
	res := &KernelResult{Idle: k.idle, Interval: k.interval, Measured: median(k.gaps.list), Undefined: bound.Undefined, Misdefined: bound.Misdefined}
	for i := range k.list {
		s := &k.list[i]
		if pid, _ := s.thread.IDs(); pid == 0 {
			res.Idle += int(s.times)
			continue
		}
		res.Samples += int(s.times)
		res.Weight = int64(measure.Plus(uint64(res.Weight), uint64(s.weight)))
		if k.bound.Len(s.stack) > 0 {
			res.Stacks += int(s.times)
		}
	}
	return res
}

// Stackless counts the samples without a stack of those that are chosen by their process and
// their time, which is in nanoseconds since 1970.
func (k *Kernel) Stackless(chosen func(pid, at int64) bool) (n int) {
	k.bound.Flush()
	for i := range k.list {
		s := &k.list[i]
		if pid, _ := s.thread.IDs(); pid != 0 && k.bound.Len(s.stack) == 0 && chosen(pid, s.at) {
			n += int(s.times)
		}
	}
	return n
}

// Samples returns the samples. It is to be called when all records have been.
func (k *Kernel) Samples() []*stacks.Samples {
	k.bound.Flush()
	out := stacks.NewSamples(CPU, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "cpu", Unit: "nanoseconds"})
	inKernel, inUser := out.Label(0, "state", "kernel"), out.Label(0, "state", "user")
	var frames []uint64
	for i := range k.list {
		s := &k.list[i]
		pid, _ := s.thread.IDs()
		if pid == 0 {
			continue
		}
		if frames = k.bound.AppendFrames(frames[:0], s.stack); len(frames) == 0 {
			frames = append(frames, s.address)
		}
		state := inUser
		if s.stack.Kernel != 0 || isKernel(s.address) {
			state = inKernel
		}
		out.AddStack(time.Unix(0, s.at), pid, s.thread.TID, out.InternAddresses(pid, frames), state, s.times, s.weight)
	}
	out.AddRest(k.rest())
	return []*stacks.Samples{out}
}

// isKernel reports whether an address is in the upper half of those of a 64-bit
// system.
func isKernel(address uint64) bool { return address >= 0xffff800000000000 }
