package threadpool

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: changes of the number of workers, and sums of them.
func (r *Result) Tables() []table.View {
	adjustments := func(rt *Runtime) []*Adjustment { return table.Refs(rt.Adjustments) }
	reasons := func(rt *Runtime) []*Reason { return table.Refs(rt.Reasons) }
	return []table.View{
		table.Each("adjustment", "Changes of the number of workers", r.Runtimes, (*Runtime).pid, adjustments,
			table.Moment("atMs", func(x *Adjustment) float64 { return x.AtMS }),
			table.Count("workers", func(x *Adjustment) uint32 { return x.Workers }).Under("WISHED"),
			table.Amount("throughputPerSec", func(x *Adjustment) measure.Float { return x.ThroughputPerSec }),
			table.Text("reason", func(x *Adjustment) string { return x.Reason })),
		table.Each("reason", "Why the number of workers was changed", r.Runtimes, (*Runtime).pid, reasons,
			table.Count("count", func(x *Reason) int { return x.Count }).As("Changes"),
			table.Text("reason", func(x *Reason) string { return x.Reason }).About()).Ordered("count"),
		r.processes(), r.workers(),
	}
}

func (r *Result) processes() table.View {
	return table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid,
		table.Count("maxWorkers", func(rt *Runtime) int { return rt.MaxWorkers }),
		table.Count("lastWorkers", func(rt *Runtime) int { return rt.LastWorkers }),
		table.Count("adjustments", func(rt *Runtime) int { return len(rt.Adjustments) }),
		table.Amount("enqueued", func(rt *Runtime) (n measure.Float) {
			if rt.Queue != nil {
				n = measure.Known(float64(rt.Queue.Enqueued))
			}
			return n
		}).To(0),
		table.Amount("p95QueueMs", func(rt *Runtime) (ms measure.Float) {
			if rt.Queue != nil {
				ms = rt.Queue.WaitMS.P95
			}
			return ms
		}),
		table.Text("starvation", func(rt *Runtime) string {
			if rt.Starvation == nil {
				return ""
			}
			return strings.Join(rt.Starvation.Because, "; ")
		}))
}

// workers lists the number of workers over time, where it changes.
func (r *Result) workers() table.View {
	type level struct{ startMS, workers float64 }
	of := func(rt *Runtime) (rows []*level) {
		for i, n := range rt.Workers.Highest {
			if i == 0 || n != rt.Workers.Highest[i-1] {
				rows = append(rows, &level{float64(i) * rt.Workers.WidthMS, n})
			}
		}
		return rows
	}
	return table.Each("time", "Workers over time", r.Runtimes, (*Runtime).pid, of,
		table.Moment("startMs", func(x *level) float64 { return x.startMS }),
		table.Amount("workers", func(x *level) float64 { return x.workers }).To(0))
}
