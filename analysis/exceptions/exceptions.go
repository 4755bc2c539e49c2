// Package exceptions reports the exceptions of a .NET program: by type, by message, by call
// stack and over time. It also has how long handling takes, and which blocks handle which
// exception. Use it when a program is slow and its log says nothing: caught exceptions are
// thrown ones, too.
//
// Microsoft-Windows-DotNETRuntime with the keyword Exception (0x8000) at level 2 writes the
// throws, and at level 4 also catch, finally and filter blocks.
package exceptions

import (
	"cmp"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/methods"
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
	code     methods.Code
	thrown   func(pid int64, atMS float64)
}

// OnThrow has do called for each exception when it is thrown. The Result lists only the
// first of them.
func (a *Analysis) OnThrow(do func(pid int64, atMS float64)) { a.thrown = do }

type runtime = lives.Runtime[state]

type state struct {
	count    int
	types    names.Table[thrownType]
	messages int          // different ones that are kept
	sites    map[site]int // exceptions that do not say that they are thrown again
	code     *methods.Known
	samples  *stacks.Samples
	series   measure.Series
	threads  map[int64]int
	thrown   []Thrown
	flying   map[int64]Thrown   // of each thread the last, until a block catches it or its handling ends
	tops     []top              // of thrown
	open     spans.Table[int64] // throws, by thread
	handling []float64
	blocks   spans.Table[block]
	handlers [kinds]names.Table[handler]
	ran      [kinds]int
}

type thrownType struct {
	tally    Tally
	messages names.Table[said]
	others   *names.Entry[said] // messages beyond maxMessages
	label    stacks.LabelSet    // of the type, once it has a stack
}

// A said is the exceptions of a type with one message.
type said struct{ tally Tally }

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
	a.follow(mux)
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *anyThrown) {
		if rt.State.code == nil {
			rt.State.code = a.code.Of(r, rt.CLR)
		}
		thrown(rt, r, &e.AnyExceptionThrown)
		if a.thrown != nil {
			a.thrown(rt.PID, rt.At(rt.Now))
		}
	})
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionThrownStop) {
		rt.State.open.Gap(r)
		if at, ok := rt.State.open.Pop(r.ThreadID); ok {
			rt.State.handling = append(rt.State.handling, rt.MS(rt.Now-at))
		}
		delete(rt.State.flying, r.ThreadID)
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ExceptionCatchStart) {
		delete(rt.State.flying, r.ThreadID)
		enter(rt, r, catch, e.MethodName)
	})
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ExceptionFinallyStart) { enter(rt, r, finally, e.MethodName) })
	lives.On(t, mux, func(rt *runtime, r *etw.Record, e *clr.ExceptionFilterStart) { enter(rt, r, filter, e.MethodName) })
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionCatchStop) { leave(rt, r, catch) })
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionFinallyStop) { leave(rt, r, finally) })
	lives.OnBare(t, mux, func(rt *runtime, r *etw.Record, _ *clr.ExceptionFilterStop) { leave(rt, r, filter) })
	return a
}

func thrown(rt *runtime, r *etw.Record, e *clr.AnyExceptionThrown) {
	s := &rt.State
	s.count++
	t := s.types.At(e.ExceptionType)
	at := site{&t.Value, t.Value.said(s, e.ExceptionMessage), topOf(r.Stack)}
	if e.ExceptionFlags&clr.ExceptionThrownFlagsReThrown != 0 {
		at.t.tally.add(rethrown, 1)
		at.m.Value.tally.add(rethrown, 1)
	} else {
		if s.sites == nil {
			s.sites = make(map[site]int)
		}
		s.sites[at]++
	}
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
		s.threads, s.flying = make(map[int64]int), make(map[int64]Thrown)
	}
	s.threads[r.ThreadID]++
	s.open.Gap(r)
	s.open.Push(r.ThreadID, rt.Now)
	row := Thrown{AtMS: rt.At(rt.Now), Thread: r.ThreadID, Type: t.Name, Message: at.m.Name, HResult: int32(e.ExceptionHRESULT)}
	if at.m == t.Value.others {
		row.Message = e.ExceptionMessage.String()
	}
	if e.ExceptionFlags&clr.ExceptionThrownFlagsReThrown != 0 {
		row.How = rethrown
	}
	s.flying[r.ThreadID] = row
	if len(s.thrown) < maxThrown {
		if e.ExceptionFlags != 0 {
			row.Flags = e.ExceptionFlags.String()
		}
		s.thrown, s.tops = append(s.thrown, row), append(s.tops, at.frames)
	}
}

// said returns the entry of a message, or that of all for which there is no room.
func (t *thrownType) said(s *state, text etw.UTF16) *names.Entry[said] {
	if m := t.messages.Find(text); m != nil {
		return m
	}
	if s.messages >= maxMessages {
		if t.others == nil {
			t.others = &names.Entry[said]{Name: "(other messages)"}
		}
		return t.others
	}
	s.messages++
	return t.messages.At(text)
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
	return spans.Samples(&a.runtimes, func(s *state) *stacks.Samples { return s.samples })
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
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
		res.plus(out.Tally)
		for _, t := range out.Types {
			sum := all[t.Type]
			if sum == nil {
				sum = &Type{Type: t.Type}
				all[t.Type] = sum
			}
			sum.plus(t.Tally)
		}
	}
	for _, t := range all {
		res.Types = append(res.Types, *t)
	}
	sortTypes(res.Types)
	return res
}

func sortTypes(list []Type) {
	order.Sort(list, func(a, b Type) int { return cmp.Or(b.more(a.Tally), cmp.Compare(a.Type, b.Type)) })
}

func (s *state) result(rt *runtime) *Runtime {
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life,
		Types: []Type{}, Messages: []Message{}, Series: s.series.Clone(), Thrown: slices.Clone(s.thrown),
		HandlingMS: measure.Summarize(slices.Clone(s.handling))}
	if s.ran != [kinds]int{} {
		for kind, n := range map[int]*measure.Float{catch: &out.Catches, finally: &out.Finallys, filter: &out.Filters} {
			*n = measure.Known(float64(s.ran[kind]))
		}
		out.CaughtAgain = max(0, s.ran[catch]-s.count)
		out.Uncaught = slices.Collect(maps.Values(s.flying))
		order.Sort(out.Uncaught, func(x, y Thrown) int {
			return cmp.Or(cmp.Compare(x.AtMS, y.AtMS), cmp.Compare(x.Thread, y.Thread))
		})
	}
	s.tell(out)
	sortTypes(out.Types)
	order.Sort(out.Messages, func(a, b Message) int {
		return cmp.Or(b.more(a.Tally), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Message, b.Message))
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

// tell fills in the exception, and how it was thrown.
func (s *state) tell(out *Runtime) {
	types, messages := make(map[*thrownType]Tally), make(map[*names.Entry[said]]Tally)
	for at, n := range s.sites {
		how := how(s.code, at.frames)
		t, m := types[at.t], messages[at.m]
		t.add(how, n)
		m.add(how, n)
		types[at.t], messages[at.m] = t, m
	}
	for _, t := range s.types.All() {
		of := t.Value.tally
		of.plus(types[&t.Value])
		out.plus(of)
		out.Types = append(out.Types, Type{of, t.Name})
		all := t.Value.messages.All()
		if t.Value.others != nil {
			all = append(slices.Clip(all), t.Value.others)
		}
		for _, m := range all {
			of := m.Value.tally
			of.plus(messages[m])
			out.Messages = append(out.Messages, Message{of, t.Name, m.Name})
		}
	}
	for i := range out.Thrown {
		if x := &out.Thrown[i]; x.How == "" {
			x.How = how(s.code, s.tops[i])
		}
	}
}
