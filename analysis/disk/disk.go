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
	"github.com/etwgen/etwgen/analysis/internal/inout"
	"github.com/etwgen/etwgen/analysis/internal/operations"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the operations in the records that a [etw.Mux] dispatches.
type Analysis struct {
	list    *operations.List
	orphans int
	unfit   int
	busy    map[uint32]*busy.Union // disks
}

// Needs are operations of disks, with their call stacks.
var Needs = []need.Need{{What: "operations of disks", Recorder: "wpr -start DiskIO, or xperf -on PROC_THREAD+LOADER+DISK_IO+DISK_IO_INIT+FILENAME -stackwalk DiskReadInit+DiskWriteInit+DiskFlushInit", Kernel: need.Disks.Kernel}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{list: operations.New(mux), busy: make(map[uint32]*busy.Union)}
	inout.WatchDisks(mux, a.asked, a.answered)
	return a
}

// asked takes that a disk is asked.
func (a *Analysis) asked(r *etw.Record, kind inout.Kind, irp etw.Pointer, by inout.Issuer) {
	thread := r.ThreadID
	if by.Told {
		thread = int64(by.Thread)
	}
	a.list.Ask(r, irp, thread, operations.Operation{Kind: kind})
}

// answered takes that a disk has answered. Where nothing told that it was asked, there is no
// stack.
func (a *Analysis) answered(r *etw.Record, x inout.Answer) {
	if !a.list.Machine.Fits(x.Ticks) {
		a.unfit++
		x.Ticks = 0
	}
	o := operations.Operation{Kind: x.Kind, File: a.list.Files.ByKey(x.Key), Bytes: x.Bytes, Disk: x.Disk, Done: true, Took: length(r, x.Ticks)}
	if a.busy[o.Disk] == nil {
		a.busy[o.Disk] = new(busy.Union)
	}
	a.busy[o.Disk].Add(when.Of(r)-o.Took, when.Of(r))
	asked := a.list.End(x.IRP)
	if asked == nil {
		a.orphans++
		asked = a.list.Late(when.Of(r) - o.Took)
	}
	o.At, o.Thread, o.Stack = asked.At, asked.Thread, asked.Stack
	if _, tid := o.Thread.IDs(); x.Told && x.Thread != math.MaxUint32 && tid != int64(x.Thread) {
		o.Thread = a.list.Machine.AskerAt(r, int64(x.Thread), r.Timestamp-int64(min(x.Ticks, math.MaxInt64/100)))
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
	Unfit      int // of Operations, those whose time cannot be: it counts as 0
	Bytes      uint64
	Time       int64 // nanoseconds from asking to the answer, those at the same time added
	// Busy are the nanoseconds in which disks had anything to answer, those of several added.
	Busy int64
}

// Kind is the kind of samples that [Analysis.Samples] returns.
const Kind = "disk"

// Result returns the findings so far.
func (a *Analysis) Result() *Result {
	res := &Result{Orphans: a.orphans, Unfit: a.unfit}
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
			a.list.Add(out, o, stacks.Label{Key: "disk", Value: "disk " + strconv.FormatUint(uint64(o.Disk), 10)})
		}
	}
	return []*stacks.Samples{out}
}
