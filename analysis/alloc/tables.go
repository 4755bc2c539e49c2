package alloc

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: types, and sums of them.
func (r *Result) Tables() []table.View {
	types, events := r.Types, "Ticks"
	if !slices.ContainsFunc(r.Runtimes, func(rt *Runtime) bool { return rt.Ticks != nil }) {
		events = "Samples"
	}
	if len(types) == 0 { // neither ticks nor samples: those that were counted
		for _, rt := range r.Runtimes {
			if rt.Exact != nil {
				types, events = append(slices.Clone(types), rt.Exact.Types...), "Events"
			}
		}
	}
	ticks := func(rt *Runtime) []Type {
		if rt.Ticks == nil {
			return nil
		}
		return rt.Ticks.Types
	}
	samples := func(rt *Runtime) []Type {
		if rt.Samples == nil {
			return nil
		}
		return rt.Samples.Types
	}
	exact := func(rt *Runtime) []Type {
		if rt.Exact == nil {
			return nil
		}
		return rt.Exact.Types
	}
	each := func(name, title, events string, of func(*Runtime) []Type) table.View {
		refs := func(rt *Runtime) []*Type { return table.Refs(of(rt)) }
		return table.Each(name, title, r.Runtimes, (*Runtime).pid, refs, typeColumns(events)...).Ordered("MB").OnPages()
	}
	return []table.View{
		table.Of("type", "Types", table.Refs(types), typeColumns(events)...), r.kinds(), r.processes(), r.overTime(),
		each("tickedType", "Types, by ticks", "Ticks", ticks), each("sampledType", "Types, by samples", "Samples", samples),
		each("countedType", "Types, by counted objects", "Events", exact),
	}
}

func typeColumns(events string) []table.Column[*Type] {
	return []table.Column[*Type]{
		table.Amount("MB", func(x *Type) float64 { return x.Bytes / 1e6 }).For(table.People).As("Allocated"),
		table.Amount("bytes", func(x *Type) float64 { return x.Bytes }).For(table.Programs),
		table.Amount("sharePercent", func(x *Type) measure.Float { return x.SharePercent }),
		table.Count("ticks", func(x *Type) int { return x.Ticks }).As(events),
		table.Amount("objects", func(x *Type) measure.Float { return x.Objects }).To(0).Helped("estimate of their number"),
		table.Amount("errorPercent", func(x *Type) measure.Float { return x.ErrorPercent }).Helped("relative standard error, as far as allocations are random"),
		table.Text("type", func(x *Type) string { return x.Type }).About(),
	}
}

// kinds lists the kinds of heaps.
func (r *Result) kinds() table.View {
	of := func(rt *Runtime) []*Kind {
		if rt.Ticks == nil {
			return nil
		}
		return table.Refs(rt.Ticks.Kinds)
	}
	return table.Each("kind", "Kinds of heaps", r.Runtimes, (*Runtime).pid, of,
		table.Amount("MB", func(k *Kind) float64 { return float64(k.Bytes) / 1e6 }).For(table.People).As("Allocated"),
		table.Count("bytes", func(k *Kind) uint64 { return k.Bytes }).For(table.Programs),
		table.Count("ticks", func(k *Kind) int { return k.Count }),
		table.Text("kind", func(k *Kind) string { return k.Kind }).About())
}

// processes lists the allocations of each, by every kind of events.
func (r *Result) processes() table.View {
	sum := func(rt *Runtime) (ticks, tickedMB, samples, sampledMB, objects, countedMB measure.Float) {
		if x := rt.Ticks; x != nil {
			ticks, tickedMB = measure.Known(float64(x.Count)), measure.Known(float64(x.Bytes)/1e6)
		}
		if x := rt.Samples; x != nil {
			samples, sampledMB = measure.Known(float64(x.Count)), measure.Known(x.Bytes/1e6)
		}
		if x := rt.Exact; x != nil {
			objects, countedMB = measure.Known(float64(x.Objects)), measure.Known(float64(x.Bytes)/1e6)
		}
		return
	}
	return table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid,
		table.Amount("ticks", func(rt *Runtime) measure.Float { f, _, _, _, _, _ := sum(rt); return f }).To(0),
		table.Amount("tickedMB", func(rt *Runtime) measure.Float { _, f, _, _, _, _ := sum(rt); return f }),
		table.Amount("samples", func(rt *Runtime) measure.Float { _, _, f, _, _, _ := sum(rt); return f }).To(0),
		table.Amount("sampledMB", func(rt *Runtime) measure.Float { _, _, _, f, _, _ := sum(rt); return f }),
		table.Amount("countedObjects", func(rt *Runtime) measure.Float { _, _, _, _, f, _ := sum(rt); return f }).To(0),
		table.Amount("countedMB", func(rt *Runtime) measure.Float { _, _, _, _, _, f := sum(rt); return f }))
}

// overTime lists allocations over time, by ticks or else by samples.
func (r *Result) overTime() table.View {
	exactOnly := func(rt *Runtime) bool { return rt.Ticks == nil && rt.Samples == nil }
	return table.Series(order.Delete(slices.Clone(r.Runtimes), exactOnly), (*Runtime).pid, "bytes", func(rt *Runtime) *measure.Series {
		if rt.Ticks != nil {
			return &rt.Ticks.Series
		}
		return &rt.Samples.Series
	})
}
