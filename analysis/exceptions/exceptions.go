// Package exceptions answers what a .NET program throws: by type, by message, by call
// stack and over time. It also has how long handling takes, and which blocks handle what.
// Use it when a program is slow and its log says nothing: what is caught is thrown, too.
//
// Microsoft-Windows-DotNETRuntime with the keyword Exception (0x8000) at level 2
// writes what is thrown, and at level 4 also catch, finally and filter blocks.
package exceptions

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/names"
	"github.com/etwgen/etwgen/analysis/internal/spans"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Analysis follows the exceptions in the records that a [etw.Mux] dispatches.
type Analysis struct {
	runtimes lives.Table[state]
	thrown   func(pid int64, atMS float64)
}

// OnThrow has do called for each exception when it is thrown. The Result lists only the
// first of them.
func (a *Analysis) OnThrow(do func(pid int64, atMS float64)) { a.thrown = do }

type runtime = lives.Runtime[state]

type state struct {
	count    int
	rethrown int
	types    names.Table[thrownType]
	messages int // different ones that are kept
	samples  *stacks.Samples
	series   measure.Series
	threads  map[int64]int
	thrown   []Thrown
	open     spans.Table[int64] // throws, by thread
	handling []float64
	blocks   spans.Table[block]
	handlers [kinds]names.Table[handler]
	ran      [kinds]int
}

type thrownType struct {
	count, rethrown int
	messages        names.Table[int]
	others          int             // with messages beyond maxMessages
	label           stacks.LabelSet // of the type, once it has a stack
}

type handler struct {
	count int
	ticks int64
}

type block struct {
	at      int64
	kind    int
	handler *handler
}

// The kinds of blocks.
const (
	catch = iota
	finally
	filter
	kinds
)

var kindNames = [kinds]string{"catch", "finally", "filter"}

// maxThrown is how many exceptions are listed one by one, and maxMessages how many
// different messages are: programs put numbers into them.
const (
	maxThrown   = 1000
	maxMessages = 10000
)

// Needs are the exceptions themselves. NeedsHandling are those with the blocks that handle
// them, and how long that takes.
var (
	Needs         = []need.Need{{What: "exceptions", Provider: need.CLR, Keywords: 0x8000, Names: "Exception", Level: etw.LevelError}}
	NeedsHandling = []need.Need{{What: "exceptions", Provider: need.CLR, Keywords: 0x8000, Names: "Exception", Level: etw.LevelInformational}}
)

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, NeedsHandling)()
	a := &Analysis{}
	t := &a.runtimes
	t.Watch(mux)
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.AnyExceptionThrown) {
		throw(rt, r, e)
		if a.thrown != nil {
			a.thrown(rt.PID, rt.At(rt.Now))
		}
	})
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionThrownStop) {
		if at, ok := rt.State.open.Pop(r.ThreadID); ok {
			rt.State.handling = append(rt.State.handling, rt.MS(rt.Now-at))
		}
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ExceptionCatchStart) { enter(rt, r, catch, e.MethodName) })
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ExceptionFinallyStart) { enter(rt, r, finally, e.MethodName) })
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ExceptionFilterStart) { enter(rt, r, filter, e.MethodName) })
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionCatchStop) { leave(rt, r, catch) })
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionFinallyStop) { leave(rt, r, finally) })
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionFilterStop) { leave(rt, r, filter) })
	return a
}

func throw(rt *runtime, r *etw.Record, e *clr.AnyExceptionThrown) {
	s := &rt.State
	s.count++
	t := s.types.At(e.ExceptionType)
	t.Value.count++
	if e.ExceptionFlags&clr.ExceptionThrownFlagsReThrown != 0 {
		s.rethrown++
		t.Value.rethrown++
	}
	message := s.message(&t.Value, e.ExceptionMessage)
	s.series.Add(rt.At(rt.Now), 1)
	if r.Stack.Len() > 0 {
		if s.samples == nil {
			s.samples = stacks.NewSamples("exceptions", stacks.ValueType{Name: "exceptions", Unit: "count"})
		}
		if t.Value.label == 0 {
			t.Value.label = s.samples.Label(0, "type", t.Name)
		}
		s.samples.Add(r, t.Value.label, 1)
	}
	if s.threads == nil {
		s.threads = make(map[int64]int)
	}
	s.threads[r.ThreadID]++
	s.open.Push(r.ThreadID, rt.Now)
	if len(s.thrown) < maxThrown {
		if message == "" {
			message = e.ExceptionMessage.String()
		}
		row := Thrown{AtMS: rt.At(rt.Now), Thread: r.ThreadID, Type: t.Name, Message: message, HResult: int32(e.ExceptionHRESULT)}
		if e.ExceptionFlags != 0 {
			row.Flags = e.ExceptionFlags.String()
		}
		s.thrown = append(s.thrown, row)
	}
}

// message counts a message of a type, and returns it if it is one of those that are
// kept.
func (s *state) message(t *thrownType, text etw.UTF16) string {
	m := t.messages.Find(text)
	if m == nil {
		if s.messages >= maxMessages {
			t.others++
			return ""
		}
		s.messages++
		m = t.messages.At(text)
	}
	m.Value++
	return m.Name
}

// enter begins a block.
func enter(rt *runtime, r *etw.Record, kind int, method etw.UTF16) {
	s := &rt.State
	s.ran[kind]++
	h := &s.handlers[kind].At(method).Value
	h.count++
	s.blocks.Push(r.ThreadID, block{rt.Now, kind, h})
}

// leave ends the last block of a kind on the thread.
func leave(rt *runtime, r *etw.Record, kind int) {
	if b, _, ok := rt.State.blocks.PopMatch(r.ThreadID, func(b *block) bool { return b.kind == kind }); ok {
		b.handler.ticks += rt.Now - b.at
	}
}

// Samples returns the exceptions that have stacks.
func (a *Analysis) Samples() []*stacks.Samples {
	var list []*stacks.Samples
	for _, rt := range a.runtimes.All() {
		if rt.State.samples != nil {
			list = append(list, rt.State.samples)
		}
	}
	return list
}

// Result returns what is known so far. It shares no memory that changes with the
// analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Types: []Type{}, Runtimes: []*Runtime{}}
	all := map[string]*Type{}
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		if s.count+s.ran[catch]+s.ran[finally]+s.ran[filter] == 0 {
			continue
		}
		out := s.result(rt)
		res.Runtimes = append(res.Runtimes, out)
		res.Count += out.Count
		for _, t := range out.Types {
			sum := all[t.Type]
			if sum == nil {
				sum = &Type{Type: t.Type}
				all[t.Type] = sum
			}
			sum.Count += t.Count
			sum.Rethrown += t.Rethrown
		}
	}
	for _, t := range all {
		res.Types = append(res.Types, *t)
	}
	sortTypes(res.Types)
	return res
}

func sortTypes(list []Type) {
	order.Sort(list, func(a, b Type) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type)) })
}

func (s *state) result(rt *runtime) *Runtime {
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, Count: s.count, Rethrown: s.rethrown,
		Types: []Type{}, Messages: []Message{}, Series: s.series.Clone(), Thrown: slices.Clip(s.thrown),
		HandlingMS: measure.Summarize(slices.Clone(s.handling)),
		Catches:    s.ran[catch], Finallys: s.ran[finally], Filters: s.ran[filter]}
	for _, t := range s.types.All() {
		out.Types = append(out.Types, Type{t.Name, t.Value.count, t.Value.rethrown})
		for _, m := range t.Value.messages.All() {
			out.Messages = append(out.Messages, Message{t.Name, m.Name, m.Value})
		}
		if t.Value.others > 0 {
			out.Messages = append(out.Messages, Message{t.Name, "(other messages)", t.Value.others})
		}
	}
	sortTypes(out.Types)
	order.Sort(out.Messages, func(a, b Message) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Message, b.Message))
	})
	for thread, n := range s.threads {
		out.Threads = append(out.Threads, Thread{thread, n})
	}
	order.Sort(out.Threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Thread, b.Thread))
	})
	if s.samples != nil {
		for _, w := range s.samples.Sum() {
			out.Stacks = append(out.Stacks, Stack{w.Label("type"), uint64(w.Values[0]), w.Stack})
		}
	}
	for kind := range s.handlers {
		for _, h := range s.handlers[kind].All() {
			out.Handlers = append(out.Handlers, Handler{kindNames[kind], h.Name, h.Value.count, rt.MS(h.Value.ticks)})
		}
	}
	order.Stable(out.Handlers, func(a, b Handler) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
