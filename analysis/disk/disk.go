// Package disk answers which code reads and writes disks: each operation with the call stack
// of whoever asked for it, the file, and how long the disk took. Use it when a disk is the
// bottleneck; package files has the requests of programs.
//
// The kernel of Windows logs the operations (flags DISK_IO and DISK_IO_INIT), with call
// stacks of where they were asked for; its provider Microsoft-Windows-Kernel-Disk tells the
// answers alone, which have no stacks. No disk is asked for data in a cache; writes are
// mostly asked for later, by the system.
package disk

import (
	"math"
	"strconv"

	"github.com/etwgen/etwgen/analysis/internal/busy"
	"github.com/etwgen/etwgen/analysis/internal/operations"
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the operations in the records that a [etw.Mux] dispatches.
type Analysis struct {
	list    *operations.List
	orphans int
	busy    map[uint32]*busy.Union // disks
	from    teller.Teller
}

// The work of a disk.
const (
	read uint8 = iota
	write
	flush
)

var kindNames = [...]string{"read", "write", "flush"}

// Needs are operations of disks, with their call stacks.
var Needs = []need.Need{{What: "operations of disks", Recorder: "wpr -start DiskIO, or xperf -on PROC_THREAD+LOADER+DISK_IO+DISK_IO_INIT+FILENAME -stackwalk DiskReadInit+DiskWriteInit+DiskFlushInit", Kernel: need.Disks.Kernel}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{list: operations.New(mux), busy: make(map[uint32]*busy.Union)}
	a.watchAsked(mux)
	a.watchDone(mux)
	a.watchProvided(mux)
	return a
}

func (a *Analysis) watchAsked(mux *etw.Mux) {
	asked := func(r *etw.Record, kind uint8, irp etw.Pointer, has bool, tid uint32) error {
		thread := r.ThreadID
		if has {
			thread = int64(tid)
		}
		a.list.Ask(r, irp, thread, operations.Operation{Kind: kind})
		return nil
	}
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoReadInit) error {
		return asked(r, read, e.Irp, e.HasIssuingThreadID(), e.IssuingThreadID)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoWriteInit) error {
		return asked(r, write, e.Irp, e.HasIssuingThreadID(), e.IssuingThreadID)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushInit) error {
		return asked(r, flush, e.Irp, e.HasIssuingThreadID(), e.IssuingThreadID)
	})
}

func (a *Analysis) watchDone(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoRead) error {
		a.done(r, teller.Classic, e.Irp, e.HighResResponseTime, e.HasIssuingThreadID(), e.IssuingThreadID,
			operations.Operation{Kind: read, File: a.list.Files.ByKey(uint64(e.FileObject)), Bytes: e.TransferSize, Disk: e.DiskNumber})
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoWrite) error {
		a.done(r, teller.Classic, e.Irp, e.HighResResponseTime, e.HasIssuingThreadID(), e.IssuingThreadID,
			operations.Operation{Kind: write, File: a.list.Files.ByKey(uint64(e.FileObject)), Bytes: e.TransferSize, Disk: e.DiskNumber})
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushBuffers) error {
		a.done(r, teller.Classic, e.Irp, e.HighResResponseTime, e.HasIssuingThreadID(), e.IssuingThreadID, operations.Operation{Kind: flush, Disk: e.DiskNumber})
		return nil
	})
}

// watchProvided takes the answers of disks that have manifests, which nothing goes before.
func (a *Analysis) watchProvided(mux *etw.Mux) {
	answered := func(r *etw.Record, kind uint8, irp, key etw.Pointer, number, bytes uint32, ticks uint64) error {
		a.done(r, teller.Provided, irp, ticks, false, 0, operations.Operation{Kind: kind, File: a.list.Files.ByKey(uint64(key)), Bytes: bytes, Disk: number})
		return nil
	}
	etw.Handle(mux, func(r *etw.Record, e *disk.AnyRead) error {
		return answered(r, read, e.IORequestPacket, e.FileObject, e.DiskNumber, e.TransferSize, e.HighResResponseTime)
	})
	etw.Handle(mux, func(r *etw.Record, e *disk.AnyWrite) error {
		return answered(r, write, e.IORequestPacket, e.FileObject, e.DiskNumber, e.TransferSize, e.HighResResponseTime)
	})
	etw.Handle(mux, func(r *etw.Record, e *disk.AnyFlush) error {
		return answered(r, flush, e.IORequestPacket, 0, e.DiskNumber, 0, e.HighResResponseTime)
	})
}

// done takes that a disk has answered. Where nothing told that it was asked, there is no
// stack.
func (a *Analysis) done(r *etw.Record, who teller.Teller, irp etw.Pointer, ticks uint64, has bool, tid uint32, o operations.Operation) {
	if !a.from.Hears(who) {
		return
	}
	o.Done, o.Took = true, length(r, ticks)
	if a.busy[o.Disk] == nil {
		a.busy[o.Disk] = new(busy.Union)
	}
	a.busy[o.Disk].Add(when.Of(r)-o.Took, when.Of(r))
	asked := a.list.End(irp)
	if asked == nil {
		a.orphans++
		asked = a.list.Late(when.Of(r) - o.Took)
	}
	o.At, o.Thread, o.Stack = asked.At, asked.Thread, asked.Stack
	if has && tid != math.MaxUint32 {
		o.Thread = a.list.Machine.Asker(r, int64(tid))
	}
	*asked = o
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
	Time       int64 // nanoseconds from asking to the answer, those at the same time added
	// Busy are the nanoseconds in which disks had anything to answer, those of several added.
	Busy int64
}

// Kind is the kind of samples that [Analysis.Samples] returns.
const Kind = "disk"

// Result returns the findings so far.
func (a *Analysis) Result() *Result {
	res := &Result{Orphans: a.orphans}
	for i := range a.list.All {
		o := &a.list.All[i]
		if !o.Done {
			res.Open++
			continue
		}
		res.Operations++
		res.Bytes += uint64(o.Bytes)
		res.Time += o.Took
	}
	for _, d := range a.busy {
		res.Busy += d.Total()
	}
	return res
}

// Samples returns the operations that ended, with the stacks of where they were asked for
// and how long the disk took. Labels are the operation (op), the disk and the file. It is to
// be called when all records have been.
func (a *Analysis) Samples() []*stacks.Samples {
	a.list.Flush()
	out := stacks.NewSamples(Kind, stacks.ValueType{Name: "operations", Unit: "count"}, stacks.ValueType{Name: "disk", Unit: "nanoseconds"})
	for i := range a.list.All {
		if o := &a.list.All[i]; o.Done {
			a.list.Add(out, o, kindNames[o.Kind], stacks.Label{Key: "disk", Value: "disk " + strconv.FormatUint(uint64(o.Disk), 10)})
		}
	}
	return []*stacks.Samples{out}
}
