package threads

import (
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

// Tables returns the tables of a result: threads, and processors.
func (r *Result) Tables() []table.View {
	return []table.View{
		table.Of("thread", "Threads", table.Refs(r.Threads),
			table.ID("pid", func(x *Thread) int64 { return x.PID }).Natural(),
			table.NameOf("process", table.Process, func(x *Thread) int64 { return x.PID }, func(x *Thread) string { return x.Owner }),
			table.ID("tid", func(x *Thread) int64 { return x.TID }),
			table.NameOf("name", table.Thread, func(x *Thread) int64 { return x.TID }, func(x *Thread) string { return x.Name }).IfAny(),
			table.Amount("lifeMs", func(x *Thread) float64 { return x.LifeMS }),
			table.Amount("runningMs", func(x *Thread) float64 { return x.RunningMS }),
			table.Count("samples", func(x *Thread) int { return int(x.Samples) }).IfAny(),
			table.Amount("readyMs", func(x *Thread) float64 { return x.ReadyMS }).IfAny(),
			table.Amount("waitingMs", func(x *Thread) float64 { return x.WaitingMS }),
			table.Amount("openMs", func(x *Thread) float64 { return x.OpenMS }).IfAny().Helped("of the wait that is not over at the end"),
			table.Amount("unknownMs", func(x *Thread) float64 { return x.UnknownMS }).IfAny(),
			table.Count("switches", func(x *Thread) int { return x.Switches }),
			table.Count("waits", func(x *Thread) int { return x.Waits }),
			table.Count("preempted", func(x *Thread) int { return x.Preempted }).IfAny(),
			table.Amount("longestMs", func(x *Thread) float64 { return x.LongestMS })),
		table.Of("processor", "Processors", table.Refs(r.Processors),
			table.ID("processor", func(x *Processor) int { return x.Number }),
			table.Amount("spanMs", func(x *Processor) float64 { return x.SpanMS }),
			table.Amount("busyMs", func(x *Processor) float64 { return x.BusyMS }),
			table.Amount("idleMs", func(x *Processor) float64 { return x.IdleMS }),
			table.Amount("unknownMs", func(x *Processor) float64 { return x.UnknownMS }),
			table.Amount("busyPercent", func(x *Processor) measure.Float {
				return measure.Ratio(measure.Known(100*x.BusyMS), measure.Known(x.SpanMS-x.UnknownMS))
			})),
	}
}
