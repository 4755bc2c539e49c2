// Package receiver has the collector's own receiver take the requests of package export/otlp
// by HTTP. It is a module of its own, so that nobody else needs the collector, in the last
// version of which all modules can be had.
package receiver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A sink is the rest of the collector. It is busy at first, each signal in two ways.
type sink struct {
	mu                  sync.Mutex
	asked               map[string]int
	logs, points, spans int
}

// retryAfter is how long the collector asks to wait, the second time.
const retryAfter = 17 * time.Second

// take counts the records that came, or says that the collector is busy.
func (s *sink) take(signal string, into *int, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[signal]++
	switch s.asked[signal] {
	case 1:
		return errors.New("the queue is full") // 503
	case 2:
		busy, err := status.New(codes.ResourceExhausted, "slower").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
		return errors.Join(busy.Err(), err) // 429
	}
	*into += n
	return nil
}

// start starts the receiver with a sink, and returns its address.
func start(t *testing.T, s *sink) string {
	t.Helper()
	factory := otlpreceiver.NewFactory()
	settings := receivertest.NewNopSettings(factory.Type())
	logs, err1 := consumer.NewLogs(func(_ context.Context, l plog.Logs) error { return s.take("logs", &s.logs, l.LogRecordCount()) })
	metrics, err2 := consumer.NewMetrics(func(_ context.Context, m pmetric.Metrics) error {
		return s.take("metrics", &s.points, m.DataPointCount())
	})
	traces, err3 := consumer.NewTraces(func(_ context.Context, x ptrace.Traces) error { return s.take("traces", &s.spans, x.SpanCount()) })
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for range 100 { // a port that is free may be taken before the receiver has it
		l := testio.Listen(t, "tcp", "127.0.0.1:0")
		address := l.Addr().String()
		l.Close()
		config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
		config.GRPC, config.HTTP.ServerConfig.Endpoint = nil, address
		r, err := build(t.Context(), factory, settings, config, logs, metrics, traces)
		if err != nil {
			t.Fatal(err)
		}
		if r.Start(t.Context(), componenttest.NewNopHost()) == nil {
			t.Cleanup(func() { r.Shutdown(context.Background()) })
			return "http://" + address
		}
		r.Shutdown(t.Context())
	}
	t.Fatal("the receiver does not start")
	return ""
}

// build makes the receiver, which is one for all signals.
func build(ctx context.Context, f receiver.Factory, s receiver.Settings, c component.Config, logs consumer.Logs, metrics consumer.Metrics, traces consumer.Traces) (component.Component, error) {
	r, err1 := f.CreateLogs(ctx, s, c, logs)
	_, err2 := f.CreateMetrics(ctx, s, c, metrics)
	_, err3 := f.CreateTraces(ctx, s, c, traces)
	return r, errors.Join(err1, err2, err3)
}

// A sender sends the records of traces, and counts them.
type sender struct {
	t                   *testing.T
	client              *otlp.Client
	waited              []time.Duration
	logs, points, spans int
}

func (s *sender) send(signal otlp.Signal, body []byte) {
	s.t.Helper()
	if err := s.client.Send(s.t.Context(), signal, body); err != nil {
		s.t.Fatal(err)
	}
}

// file sends the events of a trace, and their counters and collections.
func (s *sender) file(path string) {
	f := testio.Open(s.t, trace.Open, path)
	defer f.Close()
	var mux etw.Mux
	c, g := counters.New(&mux), gc.New(&mux)
	d := etw.NewDecoder(clr.Provider)
	logs := otlp.NewLogs(otlp.Attribute{Key: "host.name", Value: "test"})
	flush := func() {
		if logs.Count() > 0 {
			s.logs += logs.Count()
			s.send(otlp.SignalLogs, logs.AppendJSON(nil))
			logs.Reset()
		}
	}
	for rec, err := range f.Records() {
		if err != nil {
			break
		}
		values, _ := d.Decode(rec)
		logs.Add(rec, d.Event(rec), values)
		mux.Dispatch(rec)
		if logs.Size() > 1<<20 {
			flush()
		}
	}
	flush()
	m := otlp.Metrics{Start: f.Start()}
	for line := range bytes.Lines(m.AppendGC(m.AppendCounters(nil, c.Result()), g.Result())) {
		got, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(line)
		if err != nil {
			s.t.Fatal(err)
		}
		s.points += got.DataPointCount()
		s.send(otlp.SignalMetrics, line)
	}
	spans := otlp.Spans{Start: f.Start()}
	for range 10 {
		spans.Add(7, "Provider", "Request", requests.Activity{Name: "GET /", DurationMS: 5, TraceID: "0123456789abcdef0123456789abcdef", SpanID: "0123456789abcdef"})
	}
	s.spans += spans.Count()
	s.send(otlp.SignalTraces, spans.AppendJSON(nil))
}

// TestReceiver sends traces to a collector that is busy at first: all comes, once, and the
// collector is waited for as long as it says.
func TestReceiver(t *testing.T) {
	c := &sink{asked: make(map[string]int)}
	s := &sender{t: t}
	var err error
	if s.client, err = otlp.NewClient(start(t, c), nil, &http.Client{Timeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	s.client.Sleep = func(_ context.Context, d time.Duration) error {
		s.waited = append(s.waited, d)
		return nil
	}
	files, err := filepath.Glob("../../recorded/*.nettrace")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces")
	}
	for _, path := range files {
		s.file(path)
	}
	if s.logs == 0 || s.points == 0 || s.spans == 0 || c.logs != s.logs || c.points != s.points || c.spans != s.spans {
		t.Errorf("%d log records, %d points and %d spans came of %d, %d and %d", c.logs, c.points, c.spans, s.logs, s.points, s.spans)
	}
	if len(s.waited) != 6 {
		t.Fatalf("it was waited %v, want twice for each of three signals", s.waited)
	}
	for i, d := range s.waited {
		if asked := i%2 == 1; asked != (d >= retryAfter) {
			t.Errorf("it was waited %v; asked to: %v", d, asked)
		}
	}
	t.Logf("%d log records, %d points, %d spans", c.logs, c.points, c.spans)
}
