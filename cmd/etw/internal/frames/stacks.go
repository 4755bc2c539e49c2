package frames

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// The kernel logs call stacks as events of their own, after those that they are of. A
// boundStacks is the result of a pass over traces that finds whose they are.
type BoundStacks struct {
	files map[string]*fileStacks
	found foundStacks
	count stackCount // once all are found
	some  bool       // those alone that analyses do not find themselves
	named func() *CodeNamer
	src   etw.Source
	next  int64
	buf   []byte
}

// A fileStacks binds the stacks of one file, and knows the names of their frames.
type fileStacks struct {
	mux    etw.Mux
	number int
	stacks *system.Stacks[int64]
	names  *CodeNamer      // nil if no names are wanted
	last   map[int64]int64 // the number of the last event of a runtime, by thread
}

// NewBoundStacks returns a table for a pass to fill. named makes the source of the names of
// frames, and is nil if they are to have none.
func NewBoundStacks(named func() *CodeNamer) *BoundStacks {
	return &BoundStacks{files: make(map[string]*fileStacks), named: named}
}

// LookFirst reads traces for the facts that the pass that prints them needs before: whose
// stacks there are, and the names of processes and threads. Threads are those of headers:
// they were recorded when the stacks were. Files are the names of files.
func LookFirst(cmd *cobra.Command, in *pick.Input, paths []string, b *BoundStacks, files *pick.Operations) (*pick.Names, error) {
	first := *in
	who, decoder := pick.Foresee(), builtin.NewDecoder()
	_, err := b.findAll(cmd, &first, paths, func(rec *etw.Record) {
		who.Learn(decoder, rec, decoder.Event(rec))
		files.Learn(rec)
	})
	who.Rules = nil // those that show events have their own numbers for them
	return who, err
}

// findAll finds the stacks of traces, by a pass of its own in which see has all records. It returns
// how many files there are.
func (b *BoundStacks) findAll(cmd *cobra.Command, in *pick.Input, paths []string, see func(*etw.Record)) (files int, err error) {
	in.NoAttribute, in.Quiet, in.Foresight = true, true, nil
	t, _, err := in.Open(cmd, paths, false)
	if errors.Is(err, cli.ErrReported) { // the pass that prints says it
		err = nil
	}
	if t == nil || err != nil {
		return 0, err
	}
	defer t.Close()
	err = pick.Once(cmd, t, func(rec *etw.Record) error {
		see(rec)
		return b.find(rec)
	})
	b.done()
	return len(t.Files()), err
}

// stacksApart reports whether a file may have stacks that are events of their own.
func stacksApart(f *trace.File) bool { return f.Head().Recorder == trace.Windows }

// find takes the stacks of a record.
func (b *BoundStacks) find(rec *etw.Record) error {
	f := b.file(rec.File)
	b.runtime(f, rec, b.next)
	if !b.some || wantsStack(rec) {
		if thread, ok := stackThread(rec); ok {
			f.stacks.Await(rec, thread, b.next)
		}
	}
	b.next++
	if f.names == nil {
		return f.mux.Dispatch(rec)
	}
	return cmp.Or(f.mux.Dispatch(rec), f.names.learn(rec))
}

// done ends the pass that finds them.
func (b *BoundStacks) done() {
	for _, f := range b.files {
		f.stacks.Flush()
		if f.names != nil {
			f.names.done()
		}
	}
	b.next = 0
	b.count = b.found.count()
}

// wantsStack reports whether an analysis asks for the stack of a record and does not find it
// itself, as all do that are of events of the kernel, but for the switches of threads that work
// for an activity.
func wantsStack(r *etw.Record) bool {
	return !builtin.IsKernel(r) || is(r, new(kernel.AnyThreadCSwitch))
}

// runtime takes the stacks that runtimes of .NET log as events of their own, each after
// the event that it is of, on its thread.
func (b *BoundStacks) runtime(f *fileStacks, r *etw.Record, n int64) {
	if r.Provider != clr.Provider.Desc.GUID {
		return
	}
	var walk clr.StackWalk
	if r.ID != walk.EventDesc().ID {
		f.last[r.ThreadID] = n
		return
	}
	of, ok := f.last[r.ThreadID]
	if _, err := walk.DecodePayload(r.Payload, r.PointerSize); err != nil || !ok {
		return
	}
	delete(f.last, r.ThreadID)
	b.found.add(of, f, system.CallStack{User: f.stacks.Intern(etw.Stack{Addresses: walk.Stack.Bytes(), PtrSize: r.PointerSize})})
}

// BindStacks returns t with the stacks of its events in their records, if it is of files
// whose stacks are events of their own, and that can be read twice.
func BindStacks(cmd *cobra.Command, in *pick.Input, t *trace.Trace, paths []string) (etw.Source, error) {
	if slices.Contains(paths, trace.Stdin) || !slices.ContainsFunc(t.Files(), stacksApart) {
		return t, nil
	}
	b, first := NewBoundStacks(nil), *in
	b.some = true
	first.HeadersOnly = true
	files, err := b.findAll(cmd, &first, paths, func(*etw.Record) {})
	if err == nil && files > len(t.Files()) {
		err = errors.New("there are several traces in it, and their stacks are events of their own: unpack it")
	}
	if err != nil {
		return nil, err
	}
	return b.Over(t), nil
}

func (b *BoundStacks) file(name string) *fileStacks {
	f := b.files[name]
	if f == nil {
		f = &fileStacks{number: len(b.files), last: make(map[int64]int64)}
		if b.named != nil {
			f.names = b.named()
		}
		f.stacks = system.BindStacks(&f.mux, func(n int64, s system.CallStack) {
			if s != (system.CallStack{}) {
				b.found.add(n, f, s)
			}
		})
		b.files[name] = f
		b.found.files = append(b.found.files, f)
	}
	return f
}

// notOfThreads are classes of the kernel's events that nothing on a thread causes:
// tools add them, or they tell of the session and the machine.
var notOfThreads = []etw.GUID{
	new(kernel.AnyStackWalkStack).EventDesc().Class,
	new(kernel.AnyImageIDInfo).EventDesc().Class,
	new(kernel.AnySysConfigBuildInfo).EventDesc().Class,
	new(kernel.AnySystemConfigCPU).EventDesc().Class,
	new(kernel.AnyEventTraceHeader).EventDesc().Class,
}

// Report says which stacks are not in the trace.
func (b *BoundStacks) Report(cmd *cobra.Command) {
	n := b.count
	if n.missing > 0 {
		cli.Report(cmd, fmt.Errorf("the trace does not have the addresses of the call stacks of %s, of %d that have one: it has the keys of compressed stacks without their definitions", show.Count(n.missing, "event", "events"), n.all))
	}
	if n.partial > 0 {
		cli.Report(cmd, fmt.Errorf("of %s it has only one half of the call stack, that of the kernel or that of the program", show.Count(n.partial, "event", "events")))
	}
	var unclaimed uint64
	foreign := 0
	for _, f := range b.files {
		found := f.stacks.Stats()
		unclaimed += found.Unclaimed
		foreign += found.Misdefined
	}
	if foreign > 0 {
		cli.Report(cmd, fmt.Errorf("the addresses of %s are those of other stacks, which had their keys later, and are left out; more may be, as only the innermost address of a sample tells", show.Count(foreign, "compressed stack", "compressed stacks")))
	}
	if unclaimed > 0 {
		cli.Report(cmd, fmt.Errorf("%s of no event: the trace has none of that time and thread", show.Count(unclaimed, "half of a call stack is", "halves of call stacks are")))
	}
}

// stackThread returns the thread that the stack of an event is of, or -1 if the
// event does not tell, and false if the event has none, or brings it along.
func stackThread(r *etw.Record) (thread int64, ok bool) {
	if len(r.Stack.Addresses) == 0 && hasStackKey(r) {
		return r.ThreadID, true
	}
	if !builtin.IsKernel(r) || len(r.Stack.Addresses) > 0 || slices.Contains(notOfThreads, r.Provider) {
		return -1, false
	}
	var sample kernel.AnyPerfInfoSample
	if is(r, &sample) {
		return int64(sample.ThreadID), true
	}
	var change kernel.AnyThreadCSwitch
	if is(r, &change) {
		return int64(change.NewThreadID), true
	}
	return r.ThreadID, true
}

// hasStackKey reports whether a record refers to a stack that is elsewhere.
func hasStackKey(r *etw.Record) bool {
	return slices.ContainsFunc(r.Extended, func(x etw.ExtendedItem) bool { return x.Type == etw.ExtStackKey64 || x.Type == etw.ExtStackKey32 })
}

// is reports whether r is some version of an event, and decodes it.
func is(r *etw.Record, e etw.AnyVersion) bool {
	d := etw.Versions(e)[0]
	if r.Provider != d.Class || r.Opcode != d.Opcode {
		return false
	}
	_, err := e.DecodeVersion(r.Version, r.Payload, r.PointerSize)
	return err == nil
}

// Over returns src with the stacks in its records.
func (b *BoundStacks) Over(src *trace.Trace) etw.Source {
	b.src = src
	return b
}

// Next delivers the next record: see [etw.Source].
func (b *BoundStacks) Next(rec *etw.Record) error {
	if err := b.src.Next(rec); err != nil {
		return err
	}
	if s := b.found.take(b.next); s.of != nil {
		rec.Stack = s.addresses(&b.buf)
	}
	b.next++
	return nil
}

// Namer returns the names of the frames of the stack of a record, or nil.
func (b *BoundStacks) Namer(r *etw.Record) *CodeNamer {
	if b == nil || b.files[r.File] == nil {
		return nil
	}
	return b.files[r.File].names
}

// addresses returns the stack as records have it: the half of the kernel, and that
// of the program that called it. Of a sample that has neither there is no stack.
func (s eventStack) addresses(buf *[]byte) etw.Stack {
	if s.of.stacks.Len(s.stack) == 0 {
		return etw.Stack{}
	}
	inner, outer := s.of.stacks.Half(s.stack.Kernel), s.of.stacks.Half(s.stack.User)
	if inner.Len() == 0 {
		return outer
	}
	if outer.Len() == 0 || outer.PtrSize != inner.PtrSize {
		return inner
	}
	*buf = append(append((*buf)[:0], inner.Addresses...), outer.Addresses...)
	return etw.Stack{Addresses: *buf, PtrSize: inner.PtrSize}
}
