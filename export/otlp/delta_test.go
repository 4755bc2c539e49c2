package otlp

import (
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
)

// TestDeltaPauses has collections told as deltas: each call has those since the last.
func TestDeltaPauses(t *testing.T) {
	m := Metrics{Start: time.Unix(1, 0), Delta: true}
	for i, want := range []string{`"startTimeUnixNano":"1000000000"`, `"startTimeUnixNano":"1110000000"`} {
		g := &gc.GC{Generation: 2, StartMS: float64(100 + 100*i)}
		g.PauseMS = measure.Known(10.0)
		m.AddGC(7, g)
		got := string(m.AppendPauses(nil, true))
		if strings.Contains(got, `"aggregationTemporality":2`) || strings.Count(got, want) != 3 || strings.Count(got, `"asDouble":1}`) != 1 || !strings.Contains(got, `"count":"1"`) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// TestDeltaBegin has the first delta of a meter be of the time since the start.
func TestDeltaBegin(t *testing.T) {
	m := Metrics{Start: time.Unix(1, 0), Delta: true}
	p := counters.MetricPoint{AtMS: 500, Rate: measure.Known(3.0)}
	res := &counters.Result{Processes: []counters.Process{{PID: 7, Metrics: []counters.Metric{{Meter: "M", Instrument: "i", Type: "Counter", Points: []counters.MetricPoint{p}}}}}}
	got := string(m.AppendCounters(nil, res))
	if !strings.Contains(got, `"startTimeUnixNano":"1000000000"`) || !strings.Contains(got, `"timeUnixNano":"1500000000"`) || !strings.Contains(got, `"asDouble":3}`) {
		t.Error(got)
	}
}

// TestSpanKinds has spans of each kind, in the scopes of their sources.
func TestSpanKinds(t *testing.T) {
	for _, c := range []struct {
		task, kind, source string
		want               string
	}{
		{"Work", "Producer", "Shop", `"kind":4`}, {"Work", "", "", `"kind":1`},
		{"Microsoft.AspNetCore.Hosting.HttpRequestIn", "", "Microsoft.AspNetCore", `"kind":2`},
		{"System.Net.Http.HttpRequestOut", "", "System.Net.Http", `"kind":3`},
	} {
		var s Spans
		s.Add(7, "Bridge", c.task, requests.Activity{TraceID: strings.Repeat("1", 32), SpanID: strings.Repeat("2", 16), Kind: c.kind, Source: c.source})
		got, scope := string(s.AppendJSON(nil)), c.source
		if scope == "" {
			scope = "Bridge"
		}
		if !strings.Contains(got, c.want) || !strings.Contains(got, `"scope":{"name":"`+scope+`"}`) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A span says where its time went, but for causes that took none.
func TestSpanCauses(t *testing.T) {
	var s Spans
	s.Add(7, "Bridge", "Work", requests.Activity{TraceID: strings.Repeat("1", 32), SpanID: strings.Repeat("2", 16), DurationMS: 4,
		Causes: &requests.Causes{RunningMS: 1.5, AwaitingMS: 2.5, LateMS: 9}})
	var got struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Attributes []struct {
						Key   string
						Value struct{ DoubleValue float64 }
					}
				}
			}
		}
	}
	testio.JSON(t, s.AppendJSON(nil), &got)
	causes := make(map[string]float64)
	for _, a := range got.ResourceSpans[0].ScopeSpans[0].Spans[0].Attributes {
		if strings.HasPrefix(a.Key, "etw.cause.") {
			causes[a.Key] = a.Value.DoubleValue
		}
	}
	want := map[string]float64{"etw.cause.running_ms": 1.5, "etw.cause.awaiting_ms": 2.5, "etw.cause.late_ms": 9}
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
