// Package handles answers which GC handles a .NET program makes and does not give back:
// by kind, and by the call stack that made them. Use it when memory leaks that package
// heap finds no owner of in the program.
//
// Microsoft-Windows-DotNETRuntime with the keyword GCHandle (0x2) at level 4 writes
// the events; those of pinned objects take GC (0x1) at level 5.
package handles

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/names"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Schema is the version of the JSON form of a [Result]. Fields may be added to a
// version; one that is removed, or changes its meaning, makes a new version.
const Schema = 1

// A Result holds the handles in a trace.
type Result struct {
	Schema   int        `json:"schema"`
	Runtimes []*Runtime `json:"runtimes"`
}

// A Runtime is one .NET runtime in one process.
type Runtime struct {
	PID         int64  `json:"pid"`
	CLRInstance uint16 `json:"clrInstance"`
	Life        int    `json:"life,omitempty"`
	Created     int    `json:"created"`
	Destroyed   int    `json:"destroyed"`
	// UnknownDestroyed are those of Destroyed that were made before the trace began.
	UnknownDestroyed int            `json:"unknownDestroyed,omitempty"`
	Alive            int            `json:"alive"` // made in the trace, and not destroyed
	Kinds            []Kind         `json:"kinds"`
	AliveOverTime    measure.Levels `json:"aliveOverTime"`
	// Stacks are where the handles that are alive were made.
	Stacks []Stack `json:"stacks,omitempty"`
	// Pinned are the types of objects that were pinned at collections.
	Pinned []Pinned `json:"pinned,omitempty"`
}

// A Kind is the handles of one kind.
type Kind struct {
	Kind      string `json:"kind"`
	Created   int    `json:"created"`
	Destroyed int    `json:"destroyed"`
	Alive     int    `json:"alive"`
}

// A Stack is where handles of a kind were made.
type Stack struct {
	Kind  string       `json:"kind"`
	Alive uint64       `json:"alive"`
	Stack stacks.Stack `json:"stack"`
}

// A Pinned is the objects of a type that were pinned at collections.
type Pinned struct {
	Type string `json:"type"`
	// Times is how often one was pinned at a collection, Handles how often by a
	// handle that was made in the trace. The others are pinned from stacks, or by
	// handles that are older.
	Times   int `json:"times"`
	Handles int `json:"handles"`
}

// An Analysis follows the handles in the records that a [etw.Mux] dispatches.
type Analysis struct{ runtimes lives.Table[state] }

type runtime = lives.Runtime[state]

type state struct {
	created, destroyed, unknown int
	kinds                       map[clr.GCHandleKind]*Kind
	alive                       map[uint64]made
	levels                      measure.Levels
	samples                     *stacks.Samples
	pinned                      names.Table[pinned]
	seen                        bool
}

type handle struct {
	kind  clr.GCHandleKind
	stack stacks.ID
}

// A made is where and when a handle was made.
type made struct {
	handle
	time, thread int64
}

type pinned struct{ times, handles int }

// Needs are the handles that are made and given back.
var Needs = []need.Need{{What: "handles", Provider: need.CLR, Keywords: 0x2, Names: "GCHandle", Level: etw.LevelInformational}}

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{}
	a.runtimes.Watch(mux)
	lives.On(&a.runtimes, mux, create)
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.DestroyGCHandle) {
		rt.State.seen = true
		rt.State.destroyed++
		rt.State.destroy(uint64(e.HandleID))
		rt.State.levels.Set(rt.At(rt.Now), float64(len(rt.State.alive)))
	})
	lives.On(&a.runtimes, mux, func(rt *runtime, _ *etw.Record, e *clr.PinObjectAtGCTime) {
		s := &rt.State
		s.seen = true
		p := &s.pinned.At(e.TypeName).Value
		p.times++
		if _, ok := s.alive[uint64(e.HandleID)]; ok {
			p.handles++
		}
	})
	return a
}

func create(rt *runtime, r *etw.Record, e *clr.SetGCHandle) {
	s := &rt.State
	s.seen = true
	s.created++
	if s.alive == nil {
		s.alive, s.kinds = make(map[uint64]made), make(map[clr.GCHandleKind]*Kind)
		s.samples = newSamples()
	}
	if _, ok := s.alive[uint64(e.HandleID)]; ok { // its end was lost
		s.destroy(uint64(e.HandleID))
	}
	k := s.kinds[e.Kind]
	if k == nil {
		k = &Kind{Kind: e.Kind.String()}
		s.kinds[e.Kind] = k
	}
	k.Created++
	s.alive[uint64(e.HandleID)] = made{handle{e.Kind, s.samples.Intern(r.ProcessID, r.Stack)}, when.Of(r), r.ThreadID}
	s.levels.Set(rt.At(rt.Now), float64(len(s.alive)))
}

// destroy gives up a handle.
func (s *state) destroy(id uint64) {
	h, ok := s.alive[id]
	if !ok {
		s.unknown++
		return
	}
	s.kinds[h.kind].Destroyed++
	delete(s.alive, id)
}

func newSamples() *stacks.Samples {
	return stacks.NewSamples("handles", stacks.ValueType{Name: "handles", Unit: "count"})
}

// Samples returns the handles that are alive, with the stacks that made them.
func (a *Analysis) Samples() []*stacks.Samples {
	var list []*stacks.Samples
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		if len(s.alive) == 0 {
			continue
		}
		alive := s.samples.Derive()
		for _, id := range slices.Sorted(maps.Keys(s.alive)) {
			h := s.alive[id]
			alive.AddStack(time.Unix(0, h.time), rt.PID, h.thread, h.stack, alive.Label(0, "kind", h.kind.String()), 1)
		}
		list = append(list, alive)
	}
	return list
}

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if rt.State.seen {
			res.Runtimes = append(res.Runtimes, rt.State.result(rt))
		}
	}
	return res
}

func (s *state) result(rt *runtime) *Runtime {
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, Created: s.created, Destroyed: s.destroyed,
		UnknownDestroyed: s.unknown, Alive: len(s.alive), Kinds: []Kind{}, AliveOverTime: s.levels.Clone()}
	for _, k := range s.kinds {
		row := *k
		row.Alive = k.Created - k.Destroyed
		out.Kinds = append(out.Kinds, row)
	}
	order.Sort(out.Kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(a.Kind, b.Kind))
	})
	counts := map[handle]uint64{}
	for _, h := range s.alive {
		counts[h.handle]++
	}
	for k, n := range counts {
		if stack := s.samples.Stack(k.stack); len(stack) > 0 {
			out.Stacks = append(out.Stacks, Stack{k.kind.String(), n, stack})
		}
	}
	order.Sort(out.Stacks, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.Alive, a.Alive), cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Stack, b.Stack))
	})
	for _, p := range s.pinned.All() {
		out.Pinned = append(out.Pinned, Pinned{p.Name, p.Value.times, p.Value.handles})
	}
	order.Stable(out.Pinned, func(a, b Pinned) int { return cmp.Compare(b.Times, a.Times) })
	return out
}
