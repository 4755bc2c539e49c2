package handles

import (
	"github.com/etwgen/etwgen/analysis/table"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result.
func (r *Result) Tables() []table.View {
	kinds := func(rt *Runtime) []*Kind { return table.Refs(rt.Kinds) }
	pins := func(rt *Runtime) []*Pinned { return table.Refs(rt.Pinned) }
	return []table.View{
		table.Each("kind", "By kind", r.Runtimes, (*Runtime).pid, kinds,
			table.Count("created", func(k *Kind) int { return k.Created }).As("Made"),
			table.Count("destroyed", func(k *Kind) int { return k.Destroyed }).As("Given back"),
			table.Count("alive", func(k *Kind) int { return k.Alive }),
			table.Text("kind", func(k *Kind) string { return k.Kind }).About()).Ordered("alive"),
		table.Each("pinned", "Pinned at collections", r.Runtimes, (*Runtime).pid, pins,
			table.Count("times", func(x *Pinned) int { return x.Times }),
			table.Count("handles", func(x *Pinned) int { return x.Handles }).As("By handles of the trace"),
			table.Text("type", func(x *Pinned) string { return x.Type }).About()).Ordered("times"),
	}
}
