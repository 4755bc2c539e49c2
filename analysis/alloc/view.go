package alloc

import (
	"cmp"
	"math"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
)

// unnamed is shown for types of which the events have no name.
const unnamed = "(unknown)"

// Result returns the findings so far. It shares no memory that changes with the analysis.
func (a *Analysis) Result() *Result {
	res := &Result{Schema: Schema, Types: []Type{}, Runtimes: []*Runtime{}}
	all := map[string]*Type{}
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		if s.ticks.count+s.samples.count+s.events+s.damaged == 0 {
			continue
		}
		out := &Runtime{PID: rt.PID, CLRInstance: rt.CLR, Life: rt.Life, CutEvents: s.cut, Damaged: s.damaged}
		name := func(id uint64) string { return a.types.Name(rt.Key, id) }
		if s.ticks.count > 0 {
			out.Ticks = s.tickResult(name)
			merge(all, out.Ticks.Types)
		}
		if s.samples.count > 0 {
			out.Samples = &Samples{Count: s.samples.count, Bytes: s.samples.bytes, Objects: s.samples.objects,
				Types: s.samples.list(name, false), Stacks: stackList(s.samples.stacks), Series: s.samples.series.Clone()}
			if out.Ticks == nil {
				merge(all, out.Samples.Types)
			}
		}
		if s.events > 0 {
			out.Exact = a.exactResult(rt)
		}
		res.Runtimes = append(res.Runtimes, out)
	}
	for _, t := range all {
		res.Types = append(res.Types, *t)
	}
	sortTypes(res.Types)
	for i := range res.Types { // in one order, since sums of fractions depend on it
		res.Bytes += res.Types[i].Bytes
	}
	finish(res.Types, res.Bytes)
	return res
}

// merge adds types to those of all runtimes.
func merge(all map[string]*Type, list []Type) {
	for _, t := range list {
		sum := all[t.Type]
		if sum == nil {
			sum = &Type{Type: t.Type, Objects: measure.Known(0), ErrorPercent: t.ErrorPercent}
			all[t.Type] = sum
		} else if bytes := sum.Bytes + t.Bytes; sum.ErrorPercent.IsZero() || t.ErrorPercent.IsZero() {
			sum.ErrorPercent = measure.Float{}
		} else if bytes > 0 { // their errors are independent
			sum.ErrorPercent = measure.Known(math.Hypot(sum.ErrorPercent.Or(0)*sum.Bytes, t.ErrorPercent.Or(0)*t.Bytes) / bytes)
		}
		sum.Bytes += t.Bytes
		sum.Ticks += t.Ticks
		if n, ok := t.Objects.Get(); ok && !sum.Objects.IsZero() {
			sum.Objects = measure.Known(sum.Objects.Or(0) + n)
		} else {
			sum.Objects = measure.Float{}
		}
	}
}

// sortTypes sorts types by bytes.
func sortTypes(list []Type) {
	order.Sort(list, func(a, b Type) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type), cmp.Compare(b.Ticks, a.Ticks))
	})
}

// finish sorts types by bytes, and sets their shares.
func finish(list []Type, bytes float64) {
	sortTypes(list)
	for i := range list {
		t := &list[i]
		t.SharePercent = measure.Ratio(measure.Known(100*t.Bytes), measure.Known(bytes))
	}
}

// list returns the types of w by bytes. Ticks of an old runtime err by more than chance.
func (w *weights) list(name func(uint64) string, old bool) []Type {
	list := []Type{}
	add := func(name string, t *row) {
		out := Type{Type: cmp.Or(name, unnamed), Bytes: t.bytes, Ticks: t.n}
		if !t.noObjects {
			out.Objects = measure.Known(t.objects)
		}
		switch {
		case t.variance > 0:
			out.ErrorPercent = measure.Known(100 * math.Sqrt(t.variance) / t.bytes)
		case !old:
			out.ErrorPercent = measure.Known(100 / math.Sqrt(float64(t.n)))
		}
		list = append(list, out)
	}
	for _, e := range w.types.All() {
		add(e.Name, &e.Value)
	}
	for id, t := range w.byID {
		add(name(id), t)
	}
	finish(list, w.bytes)
	return list
}

func stackList(s *stacks.Samples) []StackWeight {
	if s == nil {
		return nil
	}
	var list []StackWeight
	for _, w := range s.Sum() {
		list = append(list, StackWeight{cmp.Or(w.Label("type"), unnamed), float64(w.Values[1]), uint64(w.Values[0]), w.Stack})
	}
	return list
}

func (s *state) tickResult(name func(uint64) string) *Ticks {
	t := &Ticks{Count: s.ticks.count, Bytes: s.tickSum, Types: s.ticks.list(name, s.old),
		Stacks: stackList(s.ticks.stacks), Series: s.ticks.series.Clone(), Clamped: s.clamp, Old: s.old}
	for i, k := range s.kinds {
		if k.Count > 0 {
			k.Kind = clr.GCAllocationKind(i).String()
			t.Kinds = append(t.Kinds, k)
		}
	}
	return t
}

func (a *Analysis) exactResult(rt *lives.Runtime[state]) *Exact {
	s := &rt.State
	out := &Exact{Events: s.events, Bytes: s.counted, Types: []Type{}, Stacks: stackList(s.objects)}
	for id, t := range s.exact {
		out.Types = append(out.Types, Type{Type: a.types.Name(rt.Key, id), Bytes: t.bytes, Ticks: t.n,
			Objects: measure.Known(t.objects), ErrorPercent: measure.Known(0)})
		out.Objects += uint64(t.objects)
	}
	finish(out.Types, float64(out.Bytes))
	return out
}
