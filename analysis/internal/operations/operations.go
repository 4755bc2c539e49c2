// Package operations follows the requests of threads to files and disks, from begin to end,
// with the call stacks that made them.
package operations

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/inout"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Operation is one of a file or of a disk.
type Operation struct {
	Thread *system.Thread // nil if it is not known
	File   *system.File   // nil if it is of none, or not known
	At     int64          // when it was asked for
	Took   int64          // nanoseconds
	Bytes  uint32
	Disk   uint32
	Kind   inout.Kind
	Done   bool
	Stack  system.CallStack
}

// A List has the operations in the order in which they were asked for.
type List struct {
	Machine *system.Machine
	Files   *system.Files
	All     []Operation

	bound  *system.Stacks[int32]
	open   map[uint64]int32 // by the request
	frames []uint64
}

// New returns a list whose handlers are registered at mux.
func New(mux *etw.Mux) *List {
	l := &List{Machine: system.Of(mux), Files: system.FilesOf(mux), open: make(map[uint64]int32)}
	l.bound = system.BindStacks(mux, func(i int32, c system.CallStack) { l.All[i].Stack = c })
	return l
}

// Ask begins an operation of a thread.
func (l *List) Ask(r *etw.Record, irp etw.Pointer, thread int64, o Operation) {
	o.At, o.Thread = when.Of(r), l.Machine.Asker(r, thread)
	i := int32(len(l.All))
	if irp != 0 {
		l.open[uint64(irp)] = i
	}
	l.All = append(l.All, o)
	l.bound.Await(r, thread, i)
}

// End returns the operation of a request, which is over, or nil if nothing told that it began.
func (l *List) End(irp etw.Pointer) *Operation {
	i, ok := l.open[uint64(irp)]
	if !ok {
		return nil
	}
	delete(l.open, uint64(irp))
	o := &l.All[i]
	o.Done = true
	return o
}

// Late returns an operation that nothing told of when it began.
func (l *List) Late(at int64) *Operation {
	l.All = append(l.All, Operation{At: at})
	return &l.All[len(l.All)-1]
}

// Flush binds the last call stacks. It is to be called when all records have been.
func (l *List) Flush() { l.bound.Flush() }

// HasStack reports whether the call stack of an operation is known.
func (l *List) HasStack(o *Operation) bool { return l.bound.Len(o.Stack) > 0 }

// Add adds an operation to samples, with its kind (op), more labels, and the file.
func (l *List) Add(out *stacks.Samples, o *Operation, more ...stacks.Label) {
	pid, tid := o.Thread.IDs()
	l.frames = l.bound.AppendFrames(l.frames[:0], o.Stack)
	labels := out.Label(0, "op", o.Kind.String())
	for _, x := range more {
		labels = out.Label(labels, x.Key, x.Value)
	}
	if o.File != nil && o.File.Path != "" {
		labels = out.Label(labels, "file", l.Machine.Path(o.File.Path))
	}
	out.AddStack(time.Unix(0, o.At), pid, tid, out.InternAddresses(pid, l.frames), labels, 1, o.Took)
}
