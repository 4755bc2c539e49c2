package exceptions

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

func (rt *Runtime) pid() int64 { return rt.PID }

// Tables returns the tables of a result: exceptions, and sums of them.
func (r *Result) Tables() []table.View {
	messages := func(rt *Runtime) []*Message { return table.Refs(rt.Messages) }
	threads := func(rt *Runtime) []*Thread { return table.Refs(rt.Threads) }
	handlers := func(rt *Runtime) []*Handler { return table.Refs(rt.Handlers) }
	return []table.View{
		table.Of("type", "Types", table.Refs(r.Types),
			table.Amount("new", func(x *Type) measure.Float { return x.told(x.New) }).To(0).As("Thrown"),
			table.Amount("passedOn", func(x *Type) measure.Float { return x.told(x.PassedOn) }).To(0),
			table.Count("rethrown", func(x *Type) int { return x.Rethrown }),
			table.Count("count", func(x *Type) int { return x.Count }).As("Events"),
			table.Text("type", func(x *Type) string { return x.Type }).About()).Ordered("new"),
		table.Each("message", "Messages", r.Runtimes, (*Runtime).pid, messages,
			table.Amount("new", func(x *Message) measure.Float { return x.told(x.New) }).To(0).As("Thrown"),
			table.Amount("passedOn", func(x *Message) measure.Float { return x.told(x.PassedOn) }).To(0),
			table.Count("rethrown", func(x *Message) int { return x.Rethrown }),
			table.Count("count", func(x *Message) int { return x.Count }).As("Events"),
			table.Text("type", func(x *Message) string { return x.Type }).About(),
			table.Text("message", func(x *Message) string { return x.Message }).About()).Ordered("new"),
		r.thrown(),
		table.Each("thread", "Threads that threw", r.Runtimes, (*Runtime).pid, threads,
			table.Count("count", func(x *Thread) int { return x.Count }).As("Events"),
			table.ID("tid", func(x *Thread) int64 { return x.Thread }).About(),
			table.ThreadName("name", func(x *Thread) int64 { return x.Thread })).Ordered("count"),
		table.Each("handler", "Handlers that ran", r.Runtimes, (*Runtime).pid, handlers,
			table.Count("count", func(h *Handler) int { return h.Count }).As("Runs"),
			table.Amount("ms", func(h *Handler) float64 { return h.MS }).As("Total"),
			table.Text("kind", func(h *Handler) string { return h.Kind }),
			table.Text("method", func(h *Handler) string { return h.Method }).About()).Ordered("count"),
		table.Parts("process", "Processes", r.Runtimes, (*Runtime).pid,
			table.Amount("new", func(rt *Runtime) measure.Float { return rt.told(rt.New) }).To(0).As("Thrown"),
			table.Amount("passedOn", func(rt *Runtime) measure.Float { return rt.told(rt.PassedOn) }).To(0),
			table.Count("count", func(rt *Runtime) int { return rt.Count }).As("Events"),
			table.Count("rethrown", func(rt *Runtime) int { return rt.Rethrown }),
			table.Amount("catches", func(rt *Runtime) measure.Float { return rt.Catches }).To(0),
			table.Amount("finallys", func(rt *Runtime) measure.Float { return rt.Finallys }).To(0),
			table.Amount("filters", func(rt *Runtime) measure.Float { return rt.Filters }).To(0)),
		table.Series(r.Runtimes, (*Runtime).pid, "", func(rt *Runtime) *measure.Series { return &rt.Series }),
	}
}

// thrown lists the first exceptions, in their order.
func (r *Result) thrown() table.View {
	of := func(rt *Runtime) []*Thrown { return table.Refs(rt.Thrown) }
	return table.Each("exception", "One by one", r.Runtimes, (*Runtime).pid, of,
		table.Moment("atMs", func(x *Thrown) float64 { return x.AtMS }),
		table.ID("tid", func(x *Thrown) int64 { return x.Thread }),
		table.Text("type", func(x *Thrown) string { return x.Type }),
		table.Text("message", func(x *Thrown) string { return x.Message }),
		table.Text("hresult", func(x *Thrown) string { return fmt.Sprintf("0x%08x", uint32(x.HResult)) }).As("HResult"),
		table.Text("how", func(x *Thrown) string { return x.How }),
		table.Text("flags", func(x *Thrown) string { return x.Flags })).Of("first", "exceptions", r.Count)
}
