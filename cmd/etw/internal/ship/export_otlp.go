package ship

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// otlpForm exports as OpenTelemetry has events, metrics and spans: to a file of lines, or
// to a collector.
var otlpForm = exportForm{
	name: "otlp", suffixes: []string{".otlp.jsonl"},
	flags: func(o *exporting, cmd *cobra.Command) { o.otlp.flags(cmd) },
	own:   []string{"host", "endpoint", "header", "signals", "delta"},
	check: func(o *exporting, cmd *cobra.Command) error { return o.otlp.check(o) },
	file: func(o *exporting, cmd *cobra.Command, path string, f *trace.File) error {
		return o.otlp.file(o, cmd, path, f)
	},
	within: func(o *exporting, cmd *cobra.Command, args []string, run func() error) error {
		return o.otlp.within(o, cmd, args, run)
	},
}

// otlpSignals are the kinds that can be exported.
var otlpSignals = []string{string(otlp.SignalLogs), string(otlp.SignalMetrics), string(otlp.SignalTraces)}

// A telemetryExport holds the flags of the form otlp, and where it goes.
type telemetryExport struct {
	endpoint string
	headers  []string
	signals  []string
	delta    bool

	client   *otlp.Client
	w        *bufio.Writer
	exported int // traces
	body     []byte
	rejected int64
}

func (x *telemetryExport) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.endpoint, "endpoint", "", "otlp: send to the collector at this `URL`, such as http://localhost:4318")
	f.StringArrayVar(&x.headers, "header", nil, "otlp: send this header `NAME=VALUE` with each request; repeatable")
	f.StringSliceVar(&x.signals, "signals", otlpSignals, "otlp: the `SIGNALS` to export: some of logs, metrics, traces")
	f.BoolVar(&x.delta, "delta", false, "otlp: have sums count from one value to the next, not from the start")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"signals": pick.CompleteList(func(*cobra.Command, []string) []string { return otlpSignals }),
		"header":  cobra.NoFileCompletions, "endpoint": cobra.NoFileCompletions,
	})
}

func (x *telemetryExport) check(o *exporting) error {
	for _, s := range x.signals {
		if !slices.Contains(otlpSignals, s) {
			return cli.Usagef("--signals %s: there are %s%s", s, strings.Join(otlpSignals, ", "), cli.DidYouMean(s, otlpSignals))
		}
	}
	switch {
	case x.delta && !x.wants(otlp.SignalMetrics):
		return cli.Usagef("--delta is about metrics, and --signals does not ask for them")
	case x.endpoint == "" && len(x.headers) > 0:
		return cli.Usagef("--header is for a collector, which --endpoint says")
	case x.endpoint == "" && o.path == "":
		return cli.Usagef("--output says the file, or --endpoint the collector")
	case x.endpoint != "" && o.path != "":
		return cli.Usagef("--output and --endpoint exclude each other")
	case x.endpoint == "":
		return nil
	}
	header := make(http.Header)
	for _, h := range x.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return cli.Usagef("--header %q is not NAME=VALUE", h)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	var err error
	if x.client, err = otlp.NewClient(x.endpoint, header, nil); err != nil {
		return cli.Usagef("--endpoint: %w", err)
	}
	return nil
}

// wants reports whether a signal is exported.
func (x *telemetryExport) wants(s otlp.Signal) bool { return slices.Contains(x.signals, string(s)) }

// send writes a body as a line, or sends it. After a partial success it goes on.
func (x *telemetryExport) send(cmd *cobra.Command, s otlp.Signal, body []byte) error {
	if x.client == nil {
		_, err := x.w.Write(append(body, '\n'))
		return err
	}
	err := x.client.Send(cmd.Context(), s, body)
	if rejected, ok := errors.AsType[*otlp.RejectedError](err); ok {
		if x.rejected == 0 {
			cli.Report(cmd, err)
		}
		x.rejected += rejected.Count
		return nil
	}
	return err
}

// within exports to the file, if it is one. It stays as it was if the exporting is
// interrupted, or no trace was exported.
func (x *telemetryExport) within(o *exporting, cmd *cobra.Command, args []string, run func() error) error {
	if x.client != nil {
		return run()
	}
	var trouble error
	err := show.WritePage(cmd, o.path, args, func(w io.Writer) error {
		x.w = bufio.NewWriterSize(w, 1<<16)
		trouble = run()
		err := x.w.Flush()
		if trouble != nil && trouble != cli.ErrReported && !isUsage(trouble) {
			return trouble
		}
		if x.exported == 0 || cmd.Context().Err() != nil {
			return cmp.Or(trouble, cmd.Context().Err(), err)
		}
		return err
	})
	return cmp.Or(err, trouble)
}

// A telemetry is the export of one trace.
type telemetry struct {
	x     *telemetryExport
	cmd   *cobra.Command
	logs  *otlp.Logs
	spans *otlp.Spans

	mux      etw.Mux
	counters *counters.Analysis
	pauses   *gc.Analysis
	requests *requests.Analysis

	logged, traced int
}

// Limits of one body.
const (
	maxBodyBytes   = 512 << 10
	maxBodyRecords = 4000
)

func (x *telemetryExport) telemetry(cmd *cobra.Command, t *trace.Trace, name, host string) *telemetry {
	resource := []otlp.Attribute{{Key: "log.file.name", Value: name}}
	if host != "" {
		resource = append(resource, otlp.Attribute{Key: "host.name", Value: host})
	}
	m := &telemetry{x: x, cmd: cmd, logs: otlp.NewLogs(resource...), spans: &otlp.Spans{Start: t.Start(), Resource: resource}}
	if x.wants(otlp.SignalMetrics) {
		m.counters, m.pauses = counters.New(&m.mux), gc.New(&m.mux)
	}
	if x.wants(otlp.SignalTraces) {
		m.requests = requests.New(&m.mux)
		m.requests.OnEnd(m.spans.Add)
	}
	return m
}

// take takes an event.
func (m *telemetry) take(rec *etw.Record, s *pick.Shot) error {
	if m.x.wants(otlp.SignalLogs) {
		m.logs.Add(rec, s.Event, s.Values)
		if m.logs.Size() >= maxBodyBytes || m.logs.Count() >= maxBodyRecords {
			if err := m.flushLogs(); err != nil {
				return err
			}
		}
	}
	if m.counters == nil && m.requests == nil {
		return nil
	}
	if err := m.mux.Dispatch(rec); err != nil && !isDecode(err) {
		return err
	}
	if m.spans.Size() >= maxBodyBytes {
		return m.flushSpans()
	}
	return nil
}

// isDecode reports whether an error is of one event that does not fit its description.
func isDecode(err error) bool {
	var d *etw.DecodeError
	return errors.As(err, &d)
}

// A batch is exported at once.
type batch interface {
	Count() int
	AppendJSON(b []byte) []byte
	Reset()
}

func (m *telemetry) flushLogs() error  { return m.send(otlp.SignalLogs, m.logs, &m.logged) }
func (m *telemetry) flushSpans() error { return m.send(otlp.SignalTraces, m.spans, &m.traced) }

// send exports a batch, and counts its contents.
func (m *telemetry) send(s otlp.Signal, b batch, sent *int) error {
	if b.Count() == 0 {
		return nil
	}
	*sent += b.Count()
	m.x.body = b.AppendJSON(m.x.body[:0])
	b.Reset()
	return m.x.send(m.cmd, s, m.x.body)
}

// flush exports the rest, and the findings of the analyses.
func (m *telemetry) flush() error {
	if err := cmp.Or(m.flushLogs(), m.flushSpans()); err != nil {
		return err
	}
	if m.counters == nil {
		return nil
	}
	metrics := otlp.Metrics{Start: m.spans.Start, Resource: m.spans.Resource, Delta: m.x.delta}
	all := metrics.AppendGC(metrics.AppendCounters(nil, m.counters.Result()), m.pauses.Result())
	for line := range strings.Lines(string(all)) {
		if err := m.x.send(m.cmd, otlp.SignalMetrics, []byte(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

// file exports one trace, and reports on it in a line.
func (x *telemetryExport) file(o *exporting, cmd *cobra.Command, path string, f *trace.File) error {
	name := filepath.Base(filepath.ToSlash(f.Name()))
	t, sel, err := o.chosen(cmd, path, f)
	if err != nil {
		return err
	}
	m := x.telemetry(cmd, t, name, o.hostOf(cmd, path, f))
	if m.requests != nil {
		if err := tellCauses(m.requests, cmd, &o.in, path, t); err != nil {
			return err
		}
	}
	trouble, err := o.take(cmd, t, sel, nil, func(rec *etw.Record, s *pick.Shot) error {
		return m.take(rec, s)
	})
	if err != nil {
		return err
	}
	if err := sel.ReportNone(cmd); err != nil {
		x.conclude(o, cmd, f, cli.ExitUsage, "was not exported")
		return cli.Usagef("%s: %w", cli.Clean(f.Name()), err)
	}
	rejected := x.rejected
	if err := m.flush(); err != nil {
		return err
	}
	if show.ReportLosses(cmd, t) || x.rejected > rejected {
		trouble = cli.ErrReported
	}
	code := 0
	if trouble != nil {
		code = cli.ExitTrouble
	}
	x.exported++
	x.conclude(o, cmd, f, code, show.Count(m.logged, "log record", "log records")+", "+show.Count(m.traced, "span", "spans"))
	return trouble
}

// conclude prints the line of a trace, unless the output is in its place.
func (x *telemetryExport) conclude(o *exporting, cmd *cobra.Command, f *trace.File, code int, text string) {
	if o.path != "-" {
		fmt.Fprintf(cmd.OutOrStdout(), "%d %s: %s\n", code, cli.Clean(f.Name()), text)
	}
}
