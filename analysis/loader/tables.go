package loader

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: loads of assemblies, modules and types, and look-ups.
func (r *Result) Tables() []table.View {
	assemblies := func(rt *Runtime) []*Assembly { return table.Refs(rt.Assemblies) }
	modules := func(rt *Runtime) []*Module { return table.Refs(rt.Modules) }
	types := func(rt *Runtime) []*TypeLoad {
		if rt.Types == nil {
			return nil
		}
		return table.Refs(rt.Types.Longest)
	}
	return []table.View{
		table.Each("assembly", "Assemblies", r.Runtimes, (*Runtime).pid, assemblies,
			table.Moment("loadedMs", func(x *Assembly) measure.Float { return x.LoadedMS }),
			table.Moment("unloadedMs", func(x *Assembly) measure.Float { return x.UnloadedMS }),
			table.Text("assembly", func(x *Assembly) string { return x.Name }).About()),
		table.Each("module", "Modules", r.Runtimes, (*Runtime).pid, modules,
			table.Moment("loadedMs", func(m *Module) measure.Float { return m.LoadedMS }),
			table.Flag("precompiled", func(m *Module) bool { return m.ReadyToRun || m.NativeImage }),
			table.Flag("dynamic", func(m *Module) bool { return m.Dynamic }),
			table.Text("pdb", func(m *Module) string { return m.PDB }).As("Symbols").For(table.Details),
			table.Text("path", func(m *Module) string { return m.Path }).About()).OnPages(),
		table.Each("type", "Longest loads of types", r.Runtimes, (*Runtime).pid, types,
			table.Moment("startMs", func(x *TypeLoad) float64 { return x.StartMS }),
			table.Amount("inclusiveMs", func(x *TypeLoad) float64 { return x.InclusiveMS }).As("Duration"),
			table.Amount("exclusiveMs", func(x *TypeLoad) float64 { return x.ExclusiveMS }).As("Own"),
			table.Count("level", func(x *TypeLoad) int { return x.Level }),
			table.Text("type", func(x *TypeLoad) string { return x.Type }).About()).Ordered("inclusiveMs"),
		r.binds(),
	}
}

// binds lists the look-ups of assemblies.
func (r *Result) binds() table.View {
	of := func(rt *Runtime) []*Bind { return table.Refs(rt.Binds) }
	return table.Each("bind", "Look-ups of assemblies", r.Runtimes, (*Runtime).pid, of,
		table.Moment("startMs", func(x *Bind) float64 { return x.StartMS }),
		table.Amount("durationMs", func(x *Bind) float64 { return x.DurationMS }),
		table.Flag("success", func(x *Bind) bool { return x.Success }).As("Found"),
		table.Text("requested", func(x *Bind) string { return x.Requested }).About(),
		table.Text("resultPath", func(x *Bind) string { return x.ResultPath }),
		table.Text("requesting", func(x *Bind) string { return x.Requesting }).As("Requested by").For(table.Details),
		table.Text("errors", func(x *Bind) string { return strings.Join(x.Errors, "; ") }).For(table.Details)).Ordered("durationMs")
}
