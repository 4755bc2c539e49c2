// Package files answers which code opens, reads and writes files: each operation with the
// call stack of whoever asked for it, the file, and how long it took. Use it when a
// program waits for files; package disk has what came to a disk.
//
// The kernel of Windows logs the operations (flags FILE_IO and FILE_IO_INIT), with call
// stacks of where they were asked for. Most of what is read and written no disk is asked
// for: package disk has what is.
package files

import (
	"math"

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
}

// An operation is one on a file.
type operation struct {
	thread *system.Thread // nil if it is not known
	file   *system.File   // nil if it is not known
	at     int64          // when it was asked for
	took   int64          // nanoseconds
	bytes  uint32
	kind   kind
	done   bool
	stack  system.CallStack
}

// A kind is what is asked of a file.
type kind uint8

const (
	open kind = iota
	read
	write
	flush
	setInfo
	queryInfo
	list
	remove
	rename
	control
)

var kindNames = [...]string{"open", "read", "write", "flush", "set info", "query info", "list", "delete", "rename", "control"}

// Needs are operations on files, with their call stacks.
var Needs = []need.Need{{What: "operations on files", Recorder: "wpr -start FileIO, or xperf -on PROC_THREAD+LOADER+FILE_IO+FILE_IO_INIT+FILENAME -stackwalk FileCreate+FileRead+FileWrite"}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{machine: system.Of(mux), files: system.FilesOf(mux), open: make(map[uint64]int32)}
	a.bound = system.BindStacks(mux, func(i int32, c system.CallStack) { a.list[i].stack = c })
	a.watchTransfers(mux)
	a.watchOthers(mux)
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoOperationEnd) error {
		if i, ok := a.open[uint64(e.IrpPtr)]; ok {
			delete(a.open, uint64(e.IrpPtr))
			o := &a.list[i]
			o.took, o.done = max(when.Of(r)-o.at, 0), true
		}
		return nil
	})
	return a
}

func (a *Analysis) watchTransfers(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoCreate) error {
		return a.asked(r, open, 0, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoRead) error {
		return a.asked(r, read, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, e.IoSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoWrite) error {
		return a.asked(r, write, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, e.IoSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoFlush) error {
		return a.asked(r, flush, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
}

func (a *Analysis) watchOthers(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoSetInfo) error {
		return a.asked(r, setInfo, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoQueryInfo) error {
		return a.asked(r, queryInfo, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoDirEnum) error {
		return a.asked(r, list, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoDelete) error {
		return a.asked(r, remove, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoRename) error {
		return a.asked(r, rename, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoFSControl) error {
		return a.asked(r, control, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
}

// asked takes that an operation begins.
func (a *Analysis) asked(r *etw.Record, k kind, key, object, thread, irp etw.Pointer, bytes uint32) error {
	tid := int64(uint32(thread))
	if tid == math.MaxUint32 {
		tid = r.ThreadID
	}
	o := operation{kind: k, at: when.Of(r), bytes: bytes, file: a.files.Opened(uint64(key), uint64(object)), thread: a.machine.Asker(r, tid)}
	if irp != 0 {
		a.open[uint64(irp)] = int32(len(a.list))
	}
	a.list = append(a.list, o)
	a.bound.Await(r, tid, int32(len(a.list)-1))
	return nil
}

// A Result counts the operations.
type Result struct {
	Operations int
	Open       int // of Operations, those of which the trace has no end: they weigh nothing
	Stacks     int // of Operations, those with a stack
	Read       uint64
	Written    uint64
	Time       int64 // nanoseconds that operations took, those at the same time added
}

// Kind is the kind of samples that [Analysis.Samples] returns.
const Kind = "files"

// Result counts the operations. It is to be called when all records have been.
func (a *Analysis) Result() *Result {
	a.bound.Flush()
	res := new(Result)
	for i := range a.list {
		o := &a.list[i]
		res.add(o)
		if a.bound.Len(o.stack) > 0 {
			res.Stacks++
		}
	}
	return res
}

// Samples returns the operations, with the stacks of where they were asked for and how
// long they took. Labels are what was done (op) and the file. It is to be called when all
// records have been.
func (a *Analysis) Samples() []*stacks.Samples {
	a.bound.Flush()
	out := stacks.NewSamples(Kind, stacks.ValueType{Name: "operations", Unit: "count"}, stacks.ValueType{Name: "files", Unit: "nanoseconds"})
	var frames []uint64
	for i := range a.list {
		o := &a.list[i]
		pid, tid := o.thread.IDs()
		frames = a.bound.AppendFrames(frames[:0], o.stack)
		labels := out.Label(0, "op", kindNames[o.kind])
		if o.file != nil && o.file.Path != "" {
			labels = out.Label(labels, "file", a.machine.Path(o.file.Path))
		}
		out.AddStack(o.at, pid, tid, out.InternAddresses(pid, frames), labels, 1, o.took)
	}
	return []*stacks.Samples{out}
}

func (r *Result) add(o *operation) {
	r.Operations++
	if !o.done {
		r.Open++
	}
	r.Time += o.took
	switch o.kind {
	case read:
		r.Read += uint64(o.bytes)
	case write:
		r.Written += uint64(o.bytes)
	}
}
