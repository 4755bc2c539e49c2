// Package otlp has the collector's own reader read the output of package export/otlp, and
// that of Prometheus the output of export/prometheus. It is a module of its own, so that
// nobody else needs their libraries.
package otlp

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// traces returns recorded traces, and with a corpus those of it.
func traces(t *testing.T) []string {
	files, err := filepath.Glob("../recorded/*.net*")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces")
	}
	if dir := os.Getenv("ETWGEN_CORPUS"); dir != "" {
		for _, pattern := range []string{"etl/gcevents.etl", "etl/primitive-types.etl", "nettrace/*.nettrace", "dotnet10/counters.nettrace", "dotnet10/metrics.nettrace", "dotnet10/metrics-base2.nettrace", "dotnet10/aspnet*.nettrace", "universal/*.nettrace"} {
			more, _ := filepath.Glob(filepath.Join(dir, pattern))
			files = append(files, more...)
		}
	}
	return files
}

// TestLogs writes the events of traces and reads them back: the collector has the same
// events in the same order, with their fields.
func TestLogs(t *testing.T) {
	events := 0
	for _, path := range traces(t) {
		f := testio.Open(t, trace.Open, path)
		d := etw.NewDecoder(clr.Provider)
		logs := otlp.NewLogs(otlp.Attribute{Key: "host.name", Value: "test"})
		type want struct {
			name              string
			nanos, pid        int64
			level, attributes int
			text              map[string]string
		}
		expected := make(map[string][]want)
		check := func() {
			line := logs.AppendJSON(nil)
			got, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
			if err != nil {
				t.Fatalf("%s: %v in %.300s", path, err, line)
			}
			if n := got.LogRecordCount(); n != logs.Count() {
				t.Fatalf("%s: %d log records, want %d", path, n, logs.Count())
			}
			resource := got.ResourceLogs().At(0)
			if v, _ := resource.Resource().Attributes().Get("host.name"); v.Str() != "test" {
				t.Errorf("%s: resource %v", path, resource.Resource().Attributes().AsRaw())
			}
			for i := range resource.ScopeLogs().Len() {
				scope := resource.ScopeLogs().At(i)
				list := expected[scope.Scope().Name()]
				if scope.LogRecords().Len() != len(list) {
					t.Fatalf("%s: %d records of %s, want %d", path, scope.LogRecords().Len(), scope.Scope().Name(), len(list))
				}
				for j, w := range list {
					r := scope.LogRecords().At(j)
					number := func(key string) int64 {
						v, _ := r.Attributes().Get(key)
						return v.Int()
					}
					if r.EventName() != w.name || int64(r.Timestamp()) != w.nanos || number("etw.level") != int64(w.level) || w.pid >= 0 && number("etw.process.id") != w.pid || r.Attributes().Len() < w.attributes {
						t.Fatalf("%s: %s at %d with %v, want %+v", path, r.EventName(), r.Timestamp(), r.Attributes().AsRaw(), w)
					}
					for key, text := range w.text {
						if v, ok := r.Attributes().Get(key); !ok || v.Type() != pcommon.ValueTypeStr || v.Str() != text {
							t.Fatalf("%s: %s: %s is %q, want %q", path, w.name, key, v.AsString(), text)
						}
					}
				}
				events += len(list)
			}
			clear(expected)
			logs.Reset()
		}
		for rec, err := range f.Records() {
			if err != nil {
				break
			}
			e := d.Event(rec)
			values, _ := d.Decode(rec)
			logs.Add(rec, e, values)
			w := want{name: otlp.EventName(e), nanos: rec.Clock.Start.Time().UnixNano() + int64(rec.Elapsed()), pid: rec.ProcessID, level: int(rec.Level)}
			if values != nil {
				w.text = make(map[string]string)
				for i, field := range values.EventDesc().Fields {
					v := values.FieldValue(i)
					if v.Kind() != etw.ValueNone {
						w.attributes++
					}
					if _, twice := w.text[field.Name]; v.Kind() == etw.ValueUTF16 && !twice && field.Name != "" {
						w.text[field.Name] = v.Text()
					}
				}
			}
			expected[e.Provider] = append(expected[e.Provider], w)
			if logs.Size() > 1<<20 {
				check()
			}
		}
		if logs.Count() > 0 {
			check()
		}
		f.Close()
	}
	t.Logf("%d events of %d traces", events, len(traces(t)))
}

// TestMetricsAndSpans reads back the findings of analyses.
func TestMetricsAndSpans(t *testing.T) {
	points, pauses, spans, spreads := 0, 0, 0, 0
	for _, path := range traces(t) {
		f := testio.Open(t, trace.Open, path)
		var mux etw.Mux
		c, g, r := counters.New(&mux), gc.New(&mux), requests.New(&mux)
		s := otlp.Spans{Start: f.Start()}
		r.OnEnd(s.Add)
		mux.Run(context.Background(), f)
		f.Close()
		m := otlp.Metrics{Start: f.Start()}
		for _, delta := range []bool{false, true} {
			m.Delta = delta
			res := c.Result()
			for line := range bytes.Lines(m.AppendCounters(nil, res)) {
				got, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(line)
				if err != nil {
					t.Fatalf("%s: %v in %.300s", path, err, line)
				}
				points += got.DataPointCount()
				spreads += checkSpreads(t, got)
			}
		}
		for line := range bytes.Lines(m.AppendGC(nil, g.Result())) {
			got, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(line)
			if err != nil {
				t.Fatalf("%s: %v in %.300s", path, err, line)
			}
			list := got.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().DataPoints()
			for i := range list.Len() {
				p := list.At(i)
				sum := uint64(0)
				for _, n := range p.BucketCounts().AsRaw() {
					sum += n
				}
				if sum != p.Count() || p.BucketCounts().Len() != p.ExplicitBounds().Len()+1 {
					t.Errorf("%s: %d in buckets, %d in all", path, sum, p.Count())
				}
				pauses += int(p.Count())
			}
		}
		if s.Count() > 0 {
			got, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(s.AppendJSON(nil))
			if err != nil || got.SpanCount() != s.Count() {
				t.Fatalf("%s: %d spans, want %d, %v", path, got.SpanCount(), s.Count(), err)
			}
			span := got.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			if span.TraceID().IsEmpty() || span.SpanID().IsEmpty() || span.EndTimestamp() < span.StartTimestamp() || span.StartTimestamp().AsTime().Before(f.Start().Add(-time.Minute)) {
				t.Errorf("%s: span %s %v", path, span.Name(), span.StartTimestamp())
			}
			spans += s.Count()
		}
	}
	if pauses == 0 {
		t.Error("there are no pauses")
	}
	t.Logf("%d points of counters, %d of them exponential histograms, %d pauses, %d spans", points, spreads, pauses, spans)
}

// checkSpreads checks that exponential histograms have all their values in buckets, and
// returns how many there are.
func checkSpreads(t *testing.T, of pmetric.Metrics) (n int) {
	for _, scope := range of.ResourceMetrics().At(0).ScopeMetrics().All() {
		for _, m := range scope.Metrics().All() {
			if m.Type() != pmetric.MetricTypeExponentialHistogram {
				continue
			}
			for _, p := range m.ExponentialHistogram().DataPoints().All() {
				n++
				sum := p.ZeroCount()
				for _, count := range p.Positive().BucketCounts().AsRaw() {
					sum += count
				}
				base := math.Exp2(math.Exp2(-float64(p.Scale())))
				last := float64(p.Positive().Offset()) + float64(p.Positive().BucketCounts().Len())
				if sum != p.Count() || p.Max() > math.Pow(base, last)*(1+1e-9) || p.Max() <= math.Pow(base, last-1)*(1-1e-9) {
					t.Errorf("%s: %d values in buckets up to %g, and there are %d up to %g", m.Name(), sum, math.Pow(base, last), p.Count(), p.Max())
				}
			}
		}
	}
	return n
}
