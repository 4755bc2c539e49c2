// Package disk answers which code reads and writes disks: each operation with the call
// stack of whoever asked for it, the file, and how long the disk took. Use it when a disk
// is the bottleneck; package files has what programs asked for.
//
// The kernel of Windows logs the operations (flags DISK_IO and DISK_IO_INIT), with call
// stacks of where they were asked for. What a cache answers, no disk is asked for; what is
// written is mostly asked for later, by the system.
package disk

import (
	"math"
	"strconv"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the operations in the records that a [etw.Mux] dispatches.
type Analysis struct {
	machine *system.Machine
	files   *system.Files
	bound   *system.Stacks[int32]
	list    []operation
	open    map[uint64]int32 // by the request
	orphans int
}

// An operation is one of a disk.
type operation struct {
	thread *system.Thread // nil if it is not known
	file   *system.File   // nil if it is of none
	at     int64          // when it was asked for
	took   int64          // nanoseconds
	bytes  uint32
	disk   uint32
	kind   kind
	done   bool
	stack  system.CallStack
}

// A kind is what a disk does.
type kind uint8

const (
	read kind = iota
	write
	flush
)

var kindNames = [...]string{"read", "write", "flush"}

// Needs are operations of disks, with their call stacks.
var Needs = []need.Need{{What: "operations of disks", Recorder: "wpr -start DiskIO, or xperf -on PROC_THREAD+LOADER+DISK_IO+DISK_IO_INIT+FILENAME -stackwalk DiskReadInit+DiskWriteInit+DiskFlushInit"}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{machine: system.Of(mux), files: system.FilesOf(mux), open: make(map[uint64]int32)}
	a.bound = system.BindStacks(mux, func(i int32, c system.CallStack) { a.list[i].stack = c })
	a.watchAsked(mux)
	a.watchDone(mux)
	return a
}

func (a *Analysis) watchAsked(mux *etw.Mux) {
	asked := func(r *etw.Record, k kind, irp etw.Pointer, has bool, tid uint32) error {
		thread := r.ThreadID
		if has {
			thread = int64(tid)
		}
		a.open[uint64(irp)] = int32(len(a.list))
		a.list = append(a.list, operation{kind: k, at: when.Of(r), thread: a.machine.Asker(r, thread)})
		a.bound.Await(r, thread, int32(len(a.list)-1))
		return nil
	}
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoReadInit) error {
		return asked(r, read, e.Irp, e.HasIssuingThreadId(), e.IssuingThreadId)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoWriteInit) error {
		return asked(r, write, e.Irp, e.HasIssuingThreadId(), e.IssuingThreadId)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushInit) error {
		return asked(r, flush, e.Irp, e.HasIssuingThreadId(), e.IssuingThreadId)
	})
}

func (a *Analysis) watchDone(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoRead) error {
		a.done(r, e.Irp, e.HighResResponseTime, e.HasIssuingThreadId(), e.IssuingThreadId,
			operation{kind: read, file: a.file(e.FileObject), bytes: e.TransferSize, disk: e.DiskNumber})
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoWrite) error {
		a.done(r, e.Irp, e.HighResResponseTime, e.HasIssuingThreadId(), e.IssuingThreadId,
			operation{kind: write, file: a.file(e.FileObject), bytes: e.TransferSize, disk: e.DiskNumber})
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushBuffers) error {
		a.done(r, e.Irp, e.HighResResponseTime, e.HasIssuingThreadId(), e.IssuingThreadId, operation{kind: flush, disk: e.DiskNumber})
		return nil
	})
}

func (a *Analysis) file(key etw.Pointer) *system.File { return a.files.ByKey(uint64(key)) }

// done takes that a disk has answered. Where nothing told that it was asked, there is no
// stack.
func (a *Analysis) done(r *etw.Record, irp etw.Pointer, ticks uint64, has bool, tid uint32, o operation) {
	o.took = length(r, ticks)
	i, ok := a.open[uint64(irp)]
	if ok && irp != 0 {
		delete(a.open, uint64(irp))
		asked := a.list[i]
		o.at, o.thread, o.stack = asked.at, asked.thread, asked.stack
	} else {
		a.orphans++
		o.at = when.Of(r) - o.took
		i = int32(len(a.list))
		a.list = append(a.list, o)
	}
	if has && tid != math.MaxUint32 {
		o.thread = a.machine.Asker(r, int64(tid))
	}
	o.done = true
	a.list[i] = o
}

// length returns ticks of the clock of a record in nanoseconds.
func length(r *etw.Record, ticks uint64) int64 {
	if r.Clock == nil || r.Clock.Frequency <= 0 {
		return int64(min(ticks, math.MaxInt64/100)) * 100
	}
	return int64(min(float64(ticks)*1e9/float64(r.Clock.Frequency), math.MaxInt64/4))
}

// A Result counts the operations.
type Result struct {
	Operations int // that ended
	Open       int // that did not
	Orphans    int // of Operations, those that nothing told of when they began: they have no stack
	Bytes      uint64
	Time       int64 // nanoseconds that disks took, those at the same time added
}

// Kind is the kind of samples that [Analysis.Samples] returns.
const Kind = "disk"

// Result returns what is known so far.
func (a *Analysis) Result() *Result {
	res := &Result{Orphans: a.orphans}
	for i := range a.list {
		o := &a.list[i]
		if !o.done {
			res.Open++
			continue
		}
		res.Operations++
		res.Bytes += uint64(o.bytes)
		res.Time += o.took
	}
	return res
}

// Samples returns the operations that ended, with the stacks of where they were asked
// for and how long the disk took. Labels are what was done (op), the disk and the file. It
// is to be called when all records have been.
func (a *Analysis) Samples() []*stacks.Samples {
	a.bound.Flush()
	out := stacks.NewSamples(Kind, stacks.ValueType{Name: "operations", Unit: "count"}, stacks.ValueType{Name: "disk", Unit: "nanoseconds"})
	var frames []uint64
	for i := range a.list {
		o := &a.list[i]
		if !o.done {
			continue
		}
		pid, tid := o.thread.IDs()
		frames = a.bound.AppendFrames(frames[:0], o.stack)
		labels := out.Label(out.Label(0, "op", kindNames[o.kind]), "disk", diskName(o.disk))
		if o.file != nil && o.file.Path != "" {
			labels = out.Label(labels, "file", a.machine.Path(o.file.Path))
		}
		out.AddStack(o.at, pid, tid, out.InternAddresses(pid, frames), labels, 1, o.took)
	}
	return []*stacks.Samples{out}
}

// diskName returns what a disk is called.
func diskName(number uint32) string { return "disk " + strconv.FormatUint(uint64(number), 10) }
