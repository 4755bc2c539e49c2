package cpu

import "github.com/etwgen/etwgen/analysis/table"

// Tables returns the tables of a result: threads, by their samples.
func (r *Result) Tables() []table.View {
	return []table.View{table.Of("thread", "Threads", table.Refs(r.Threads),
		table.ID("pid", func(x *Thread) int64 { return x.Process }).Natural(),
		table.ProcessName("process", func(x *Thread) int64 { return x.Process }),
		table.ID("tid", func(x *Thread) int64 { return x.Thread }),
		table.ThreadName("name", func(x *Thread) int64 { return x.Thread }).IfAny(),
		table.Count("samples", func(x *Thread) int { return x.Samples }),
		table.Amount("managedMs", func(x *Thread) float64 { return x.ManagedMS }),
		table.Amount("externalMs", func(x *Thread) float64 { return x.TimeMS - x.ManagedMS }),
		table.Amount("pauseMs", func(x *Thread) float64 { return x.PauseMS }),
		table.Amount("unsampledMs", func(x *Thread) float64 { return x.UnsampledMS }))}
}
