// Package files answers which code opens, reads and writes files: each operation with the
// call stack of whoever asked for it, the file, and how long it took. Use it when a program
// waits for files; package disk has the requests that came to a disk.
//
// The kernel of Windows logs the operations (flags FILE_IO and FILE_IO_INIT), with call stacks of where they were asked for, as does its
// provider Microsoft-Windows-Kernel-File. Most reads and writes ask no disk: package disk has the others.
package files

import (
	"math"

	"github.com/etwgen/etwgen/analysis/internal/inout"
	"github.com/etwgen/etwgen/analysis/internal/operations"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the operations in the records that a [etw.Mux] dispatches.
type Analysis struct{ list *operations.List }

// Needs are operations on files, with their call stacks.
var Needs = []need.Need{{What: "operations on files", Recorder: "wpr -start FileIO, or xperf -on PROC_THREAD+LOADER+FILE_IO+FILE_IO_INIT+FILENAME -stackwalk FileCreate+FileRead+FileWrite", Kernel: need.Files.Kernel}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	a := &Analysis{list: operations.New(mux)}
	inout.WatchFiles(mux, a.asked, a.ended)
	return a
}

// asked takes that an operation begins.
func (a *Analysis) asked(r *etw.Record, q inout.Request) {
	tid := int64(q.Thread)
	if q.Thread == math.MaxUint32 {
		tid = r.ThreadID
	}
	a.list.Ask(r, q.IRP, tid, operations.Operation{Kind: q.Kind, Bytes: q.Bytes, File: a.list.Files.Opened(q.Key, q.Object)})
}

// ended takes that an operation is over.
func (a *Analysis) ended(r *etw.Record, irp etw.Pointer) {
	if o := a.list.End(irp); o != nil {
		o.Took = max(when.Of(r)-o.At, 0)
	}
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
	a.list.Flush()
	res := new(Result)
	for i := range a.list.All {
		o := &a.list.All[i]
		res.add(o)
		if a.list.HasStack(o) {
			res.Stacks++
		}
	}
	return res
}

// Samples returns the operations, with the stacks of where they were asked for and how long
// they took. Labels are the operation (op) and the file. It is to be called when all records
// have been.
func (a *Analysis) Samples() []*stacks.Samples {
	a.list.Flush()
	out := stacks.NewSamples(Kind, stacks.ValueType{Name: "operations", Unit: "count"}, stacks.ValueType{Name: "files", Unit: "nanoseconds"})
	for i := range a.list.All {
		a.list.Add(out, &a.list.All[i])
	}
	return []*stacks.Samples{out}
}

func (r *Result) add(o *operations.Operation) {
	r.Operations++
	if !o.Done {
		r.Open++
	}
	r.Time += o.Took
	switch o.Kind {
	case inout.Read:
		r.Read += uint64(o.Bytes)
	case inout.Write:
		r.Written += uint64(o.Bytes)
	}
}
