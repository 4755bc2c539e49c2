package jit

import (
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/generated/clr"
)

// known returns a tier, or "" if no event tells it.
func known(tier string) string {
	if tier == clr.OptimizationTierUnknown.String() {
		return ""
	}
	return tier
}

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: compilations, and sums of them.
func (r *Result) Tables() []table.View {
	missing := func(rt *Runtime) []*string {
		if rt.Precompiled == nil || rt.Precompiled.Lookups == nil {
			return nil
		}
		return table.Refs(rt.Precompiled.MissingMethods)
	}
	return []table.View{
		r.methods(),
		r.groups("module", "By module", func(rt *Runtime) []*Group { return table.Refs(rt.Modules) }),
		r.groups("tier", "By tier", func(rt *Runtime) []*Group { return table.Refs(rt.Tiers) }),
		r.groups("trigger", "By trigger", func(rt *Runtime) []*Group { return table.Refs(rt.Triggers) }),
		table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid, sums(func(rt *Runtime) *Group {
			return &Group{"", rt.Count, rt.InclusiveMS, rt.ExclusiveMS, rt.ILBytes, rt.NativeBytes}
		})...),
		table.Series(r.Runtimes, (*Runtime).pid, "exclusiveMs", func(rt *Runtime) *measure.Series { return &rt.Series }),
		r.inlining(),
		table.Each("missing", "Methods without precompiled code", r.Runtimes, (*Runtime).pid, missing, table.Text("method", func(m *string) string { return *m })),
	}
}

// methods lists the compilations, the longest first.
func (r *Result) methods() table.View {
	return table.Parts("method", "Methods", table.Refs(r.Methods), func(m *Method) int64 { return m.PID },
		table.Moment("startMs", func(m *Method) float64 { return m.StartMS }),
		table.Amount("inclusiveMs", func(m *Method) measure.Float { return m.InclusiveMS }).As("With nested"),
		table.Amount("exclusiveMs", func(m *Method) measure.Float { return m.ExclusiveMS }).Spared(1).As("Time").Helped("without methods that were compiled meanwhile"),
		table.Count("ilBytes", func(m *Method) uint32 { return m.ILBytes }).Spared(3).As("IL"),
		table.Count("nativeBytes", func(m *Method) uint32 { return m.NativeBytes }).Spared(2).As("Code"),
		table.Text("tier", func(m *Method) string { return known(m.Tier) }).IfAny(), // .NET Framework has none
		table.Text("trigger", func(m *Method) string { return m.Trigger }).For(table.Programs),
		table.ID("tid", func(m *Method) int64 { return m.Thread }).For(table.Programs),
		table.Text("module", func(m *Method) string { return m.Module }).For(table.Programs),
		table.Text("flags", func(m *Method) string { return m.Flags }).For(table.Details),
		table.Count("version", func(m *Method) uint64 { return m.Version }).For(table.Details),
		table.Text("remarks", func(m *Method) string {
			if m.WithoutStart {
				return "the begin of its compilation is not in the trace"
			}
			return ""
		}).For(table.Details),
		table.Text("method", func(m *Method) string { return m.Method }).About()).Several(len(r.Runtimes) > 1).Ordered("exclusiveMs")
}

func (r *Result) groups(name, title string, of func(*Runtime) []*Group) table.View {
	columns := append(sums(func(g *Group) *Group { return g }), table.Text(name, func(g *Group) string { return g.Name }).About())
	return table.Each(name, title, r.Runtimes, (*Runtime).pid, of, columns...).Ordered("exclusiveMs")
}

// sums are the columns of sums of compilations.
func sums[T any](of func(T) *Group) []table.Column[T] {
	return []table.Column[T]{
		table.Count("count", func(x T) int { return of(x).Count }).As("Methods"),
		table.Amount("inclusiveMs", func(x T) float64 { return of(x).InclusiveMS }).As("With nested"),
		table.Amount("exclusiveMs", func(x T) float64 { return of(x).ExclusiveMS }).As("Time"),
		table.Count("ilBytes", func(x T) uint64 { return of(x).ILBytes }).As("IL"),
		table.Count("nativeBytes", func(x T) uint64 { return of(x).NativeBytes }).As("Code"),
	}
}

// inlining lists why calls stayed calls.
func (r *Result) inlining() table.View {
	type row struct {
		what string
		Reason
	}
	of := func(rt *Runtime) (rows []*row) {
		for i, x := range []*Inlining{rt.Inlining, rt.TailCalls} {
			if x == nil {
				continue
			}
			what := []string{"inlining", "tail call"}[i]
			rows = append(rows, &row{what, Reason{"(succeeded)", x.Succeeded}})
			for _, reason := range x.Reasons {
				rows = append(rows, &row{what, reason})
			}
		}
		return rows
	}
	return table.Each("inlining", "Why calls were not inlined, or no tail calls", r.Runtimes, (*Runtime).pid, of,
		table.Count("count", func(x *row) int { return x.Count }).As("Calls"),
		table.Text("what", func(x *row) string { return x.what }),
		table.Text("reason", func(x *row) string { return x.Reason.Reason }).About())
}
