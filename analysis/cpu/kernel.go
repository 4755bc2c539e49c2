package cpu

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/pace"
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
// stands for the interval between two, which may change. The idle threads are left out, but
// where they are interrupted by a DPC or an interrupt: that is work, of whatever process.
type Kernel struct {
	machine *system.Machine
	bound   *system.Stacks[interrupted]
	pace    *pace.Pace
	list    []interrupted
	most    int    // of list, until there is no room
	slot    int64  // see room.go
	heavy   uint32 // how many samples one stands for at most
	random  uint64
	idle    int
}

// An interrupted is a sample: the thread and code when the timer ticked. Where there are many, it
// stands for as many as times says, of which own have its stack. Weight is without those that are
// early: no event had told the interval yet.
type interrupted struct {
	thread  *system.Thread
	at      int64
	weight  int64
	early   int64
	address uint64
	stack   system.CallStack
	times   uint32
	own     uint32
}

// NeedsKernel are the samples of a [Kernel].
var NeedsKernel = []need.Need{need.Samples}

// NewKernel returns an analysis whose handlers are registered at mux.
func NewKernel(mux *etw.Mux) *Kernel {
	k := &Kernel{machine: system.Of(mux), pace: pace.Of(mux), most: mostSamples}
	k.bound = system.BindStacks(mux, func(s interrupted, c system.CallStack) {
		s.stack = c
		k.keep(s)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyPerfInfoSample) { k.sample(r, e) })
	return k
}

// Skip takes a record that is left out of the samples. Where no event tells how far samples are apart
// their times do, of all of them.
func (k *Kernel) Skip(r *etw.Record) { k.pace.Skip(r) }

// SetInterval sets the time between two samples in nanoseconds, where the head of a part of another
// trace tells it. Events of the trace count more.
func (k *Kernel) SetInterval(ns int64) { k.pace.Suppose(ns) }

// MeasureInterval returns a function that tells, when all records have been, how many nanoseconds are
// between two samples by their times, or 0.
func MeasureInterval(mux *etw.Mux) func() int64 { return pace.Of(mux).Measured }

// interrupts are the flags of samples that a processor executes a DPC or an interrupt.
const interrupts = 1 | 2

func (k *Kernel) sample(r *etw.Record, e *kernel.AnyPerfInfoSample) {
	if e.ThreadID == 0 && e.Flags&interrupts == 0 {
		k.idle++
		return
	}
	s := interrupted{thread: k.machine.Named(r, int64(e.ThreadID)), at: when.Of(r), weight: k.pace.Told(), address: uint64(e.InstructionPointer), times: 1, own: 1}
	if s.weight == 0 {
		s.early = 1
	}
	k.bound.Await(r, int64(e.ThreadID), s)
}

// weight returns the time that a sample stands for.
func (k *Kernel) weight(s *interrupted) int64 {
	return int64(measure.Plus(uint64(s.weight), uint64(stoodFor(s.early, k.pace.Before()))))
}

// idle reports whether a sample is of an idle thread whose number only the process tells.
func (s *interrupted) idle() bool {
	pid, tid := s.thread.IDs()
	return pid == 0 && tid != 0
}

// A KernelResult describes the samples.
type KernelResult struct {
	Samples int   // without those of idle threads
	Idle    int   // of idle threads
	Stacks  int   // of Samples, those with a stack
	Weight  int64 // what Samples stand for, in nanoseconds
	// Interval is the last one between two samples, in nanoseconds, as the trace has it: where no
	// event does, as it is measured. Measured is what the times of samples tell, or 0.
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
	res := &KernelResult{Idle: k.idle, Interval: k.pace.Now(), Measured: k.pace.Measured(), Undefined: bound.Undefined, Misdefined: bound.Misdefined}
	for i := range k.list {
		s := &k.list[i]
		if s.idle() {
			res.Idle += int(s.times)
			continue
		}
		res.Samples += int(s.times)
		res.Weight = int64(measure.Plus(uint64(res.Weight), uint64(k.weight(s))))
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
		if pid, _ := s.thread.IDs(); !s.idle() && k.bound.Len(s.stack) == 0 && chosen(pid, s.at) {
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
		if s.idle() {
			continue
		}
		if frames = k.bound.AppendFrames(frames[:0], s.stack); len(frames) == 0 {
			frames = append(frames, s.address)
		}
		state := inUser
		if s.stack.Kernel != 0 || isKernel(s.address) {
			state = inKernel
		}
		out.AddStack(time.Unix(0, s.at), pid, s.thread.TID, out.InternAddresses(pid, frames), state, int64(s.times), k.weight(s))
	}
	out.AddRest(k.rest())
	return []*stacks.Samples{out}
}

// isKernel reports whether an address is in the upper half of those of a 64-bit
// system.
func isKernel(address uint64) bool { return address >= 0xffff800000000000 }
