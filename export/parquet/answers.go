package parquet

import (
	"cmp"
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/export/parquet/internal/file"
)

// A Process is a row of the table of processes.
type Process struct {
	PID, Parent               int64
	Name, CommandLine         string
	OS, Architecture, Runtime string // as a process of .NET tells them
}

// Processes writes the table of processes. Its times are that at which the session began.
func (w *Writer) Processes(list []Process, start time.Time) error {
	if len(list) == 0 {
		return nil
	}
	t := w.newResult("processes", column1("parent", file.Int64), column1("name", file.Text), column1("command_line", file.Text),
		column1("os", file.Text), column1("architecture", file.Text), column1("runtime", file.Text))
	for _, p := range list {
		t.begin(start.UnixNano(), p.PID)
		putNumber(t.leaf(), uint64(p.Parent), p.Parent > 0)
		for _, s := range []string{p.Name, p.CommandLine, p.OS, p.Architecture, p.Runtime} {
			t.text(s)
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// Requests is the table of requests and other activities: a row for each that ended, which
// begins with when it was begun.
type Requests struct {
	t     *result
	start time.Time
}

// Requests begins that table. start is when the session began.
func (w *Writer) Requests(start time.Time) *Requests {
	columns := []*file.Node{column1("provider", file.Text), column1("task", file.Text), column1("name", file.Text), column1("tid", file.Int64),
		column1("durationMs", file.Double), column1("exclusiveMs", file.Double), column1("status", file.Text), column1("failed", file.Bool),
		column1("parent", file.Text), column1("activity_id", file.Text), column1("span_id", file.Text), column1("parent_span_id", file.Text), column1("w3c_trace_id", file.Text)}
	for name := range new(requests.Causes).Parts() {
		columns = append(columns, column1(camel(name, "ms"), file.Double))
	}
	return &Requests{w.newResult("requests", columns...), start}
}

// Add adds an activity of a process.
func (r *Requests) Add(pid int64, provider, task string, a *requests.Activity) error {
	t := r.t
	t.begin(r.start.UnixNano()+int64(math.Round(a.StartMS*1e6)), pid)
	t.text(provider)
	t.text(task)
	t.text(a.Name)
	putNumber(t.leaf(), uint64(a.Thread), a.Thread >= 0)
	t.real(a.DurationMS)
	t.real(a.ExclusiveMS)
	t.text(a.Status)
	t.integer(int64(b2u(a.Failed)))
	for _, s := range []string{a.Parent, a.ID, a.SpanID, a.ParentSpanID, a.TraceID} {
		t.text(s)
	}
	for _, ms := range cmp.Or(a.Causes, new(requests.Causes)).Parts() {
		putNumber(t.leaf(), math.Float64bits(ms), a.Causes != nil)
	}
	return t.end()
}

func (r *result) real(v float64) { r.leaf().Number(math.Float64bits(v), 0) }

// summary writes the table of traces: a row of each recording, with the facts of its manifest.
func (w *Writer) summary(l Losses, complete bool) error {
	t := w.newResult("traces", column1("format", file.Text), column1("events", file.Int64), column1("payload_bytes", file.Int64),
		column1("undecodable", file.Int64), column1("undescribed", file.Int64), column1("lost", file.Int64), column1("lost_buffers", file.Int64),
		column1("damaged", file.Int64), column1("complete", file.Bool))
	t.part.moment(w.opts.Start.UnixNano(), !w.opts.Start.IsZero())
	t.part.head[2].Null(0, 0)
	t.text(w.opts.Source["format"])
	for _, n := range []int64{w.m.Events, w.m.PayloadBytes, w.m.Undecodable, w.m.Undescribed, l.Lost, l.LostBuffers, l.Damaged, int64(b2u(complete))} {
		t.integer(n)
	}
	return t.end()
}
