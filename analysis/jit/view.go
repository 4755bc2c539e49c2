package jit

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
)

// Why a method was compiled.
const (
	foreground = "foreground" // a thread needed it
	background = "tiering"    // it had been called often
	multicore  = "multicore"  // a profile of an earlier run has it
)

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Methods: []Method{}, Runtimes: []*Runtime{}}
	for _, rt := range a.runtimes.All() {
		if !rt.State.seen {
			continue
		}
		out := rt.State.result(rt)
		res.Runtimes = append(res.Runtimes, out)
		res.Count += out.Count
		res.InclusiveMS += out.InclusiveMS
		res.ExclusiveMS += out.ExclusiveMS
		res.Methods = append(res.Methods, out.Methods...)
	}
	if len(res.Runtimes) > 1 {
		order.Stable(res.Methods, func(a, b Method) int {
			return cmp.Or(cmp.Compare(b.InclusiveMS.Or(0), a.InclusiveMS.Or(0)), cmp.Compare(a.StartMS, b.StartMS))
		})
	}
	return res
}

// places returns where each method stands in the result: those that took longest come
// first, and of equal ones those that began first. Rows are large, and are made where they
// stand.
func (s *state) places(rt *runtime) []int {
	type key struct {
		ms, start float64
		at        int
	}
	keys := make([]key, len(s.methods))
	for i := range s.methods {
		m := &s.methods[i]
		keys[i] = key{start: rt.At(m.begin), at: i}
		if !m.orphan {
			keys[i].ms = rt.MS(m.end - m.begin)
		}
	}
	order.Sort(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(b.ms, a.ms), cmp.Compare(a.start, b.start), cmp.Compare(a.at, b.at))
	})
	places := make([]int, len(keys))
	for i, k := range keys {
		places[k.at] = i
	}
	return places
}

func (s *state) result(rt *runtime) *Runtime {
	out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, WithoutStart: s.orphans,
		Open: len(s.open.Open()), LostStops: s.open.Lost, Series: s.series.Clone(), Methods: make([]Method, len(s.methods)),
		Inlining: s.inlining.result(), TailCalls: s.tailCalls.result()}
	var inclusive, exclusive, suspended int64
	triggers, tiers, modules := groups{}, groups{}, groups{}
	places := s.places(rt)
	for i := range s.methods {
		m := &s.methods[i]
		row := &out.Methods[places[i]]
		*row = s.row(rt, m)
		if m.orphan {
			continue
		}
		out.Count++
		inclusive += m.end - m.begin
		exclusive += m.end - m.begin - m.nested
		if m.depth == 0 {
			suspended += min(m.suspended, m.end-m.begin)
		} else {
			out.Nested++
		}
		out.ILBytes += uint64(m.il)
		out.NativeBytes += uint64(m.native)
		triggers.add(row.Trigger, row)
		tiers.add(row.Tier, row)
		modules.add(row.Module, row)
	}
	out.InclusiveMS, out.ExclusiveMS, out.SuspendedMS = rt.MS(inclusive), rt.MS(exclusive), rt.MS(suspended)
	out.Triggers, out.Tiers, out.Modules = triggers.list(), tiers.list(), modules.list()
	if s.hasMemory {
		m := s.memory
		out.Memory = &m
	}
	out.Precompiled = s.precompiled(rt)
	if s.tiering.seen {
		w := s.tiering.Tiering
		w.BusyMS = rt.MS(s.tiering.ticks)
		out.Tiering = &w
	}
	return out
}

// precompiled returns all that is known of precompiled code, nil if nothing is.
func (s *state) precompiled(rt *runtime) *Precompiled {
	p := new(Precompiled)
	if s.loaded {
		p.Rejected = measure.Known(float64(s.rejected))
	}
	if s.looked.Found+s.looked.Missing > 0 {
		l := s.looked
		l.MissingMethods, l.MS = slices.Clone(l.MissingMethods), rt.MS(s.lookupTicks)
		p.Lookups = &l
	} else if s.rejected == 0 {
		return nil
	}
	return p
}

// row returns a compilation as a result.
func (s *state) row(rt *runtime, m *method) Method {
	out := Method{Method: m.name, Module: s.modules[m.module], PID: rt.PID, StartMS: rt.At(m.begin), Thread: m.thread,
		ILBytes: m.il, NativeBytes: m.native, Tier: m.flags.Tier().String(), Trigger: s.trigger(m), Version: m.version,
		AllocatedBytes: m.allocated, WithoutStart: m.orphan}
	// The tier is said, and that it was compiled.
	if flags := m.flags & (1<<7 - 1) &^ clr.MethodFlagsJitted; flags != 0 {
		out.Flags = flags.String()
	}
	if !m.orphan {
		out.InclusiveMS = measure.Known(rt.MS(m.end - m.begin))
		out.ExclusiveMS = measure.Known(rt.MS(m.end - m.begin - m.nested))
	}
	return out
}

func (s *state) trigger(m *method) string {
	switch {
	case s.multicore[m.thread]:
		return multicore
	case m.background, m.version > 0 && !s.tiering.seen && m.flags.Tier() != clr.OptimizationTierOptimizedTier1OSR:
		return background
	}
	return foreground
}

type groups map[string]*Group

func (g groups) add(name string, m *Method) {
	s := g[name]
	if s == nil {
		s = &Group{Name: cmp.Or(name, "(unknown)")}
		g[name] = s
	}
	s.Count++
	s.InclusiveMS += m.InclusiveMS.Or(0)
	s.ExclusiveMS += m.ExclusiveMS.Or(0)
	s.ILBytes += uint64(m.ILBytes)
	s.NativeBytes += uint64(m.NativeBytes)
}

func (g groups) list() []Group {
	list := []Group{}
	for _, s := range g {
		list = append(list, *s)
	}
	order.Sort(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.ExclusiveMS, a.ExclusiveMS), cmp.Compare(a.Name, b.Name))
	})
	return list
}
