package otlp

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/export/prometheus"
)

// hostileTexts are possible values for a name, a tag or a description.
var hostileTexts = []string{
	"", "x", "x total", "x_total", "x_count", "x_sum", "x_bucket", "x_counter", "x_gauge", "x\n# TYPE evil gauge\nevil 1", `x"} 1` + "\n", "x{", "\\", "\\\"", "\r\n", "\x00",
	"\xff\xfe", "\ud7ff\u2028", "123", "le", "quantile", "pid", "__name__", "__", strings.Repeat("x", 70_000),
}

// TestPrometheus: names, tags and texts of any content make a document that the reader of
// Prometheus takes, with the values in it and nothing else.
func TestPrometheus(t *testing.T) {
	res, want := &counters.Result{}, 0
	for i, name := range hostileTexts {
		p := counters.Process{PID: int64(i)}
		for _, kind := range []string{"Mean", "Sum"} {
			p.Counters = append(p.Counters, counters.Counter{Provider: "P", Name: name, Type: kind, Description: name, Unit: name, Metadata: fmt.Sprintf("%s=%s", name, name),
				Points: []counters.Point{{AtMS: 1, Mean: measure.Known(math.MaxFloat64), Increment: measure.Known(2.0)}}})
		}
		p.Metrics = []counters.Metric{
			{Meter: "P", Instrument: name, Tags: name + "=1," + name + "=2,a=" + name, Description: name, Points: []counters.MetricPoint{
				{AtMS: 1, Count: measure.Known(2.0), Sum: measure.Known(5.0), Quantiles: map[string]measure.Float{"0.5": measure.Known(1.0), name: measure.Known(1.0)}}}},
			{Meter: "P", Instrument: name, Tags: "h=1", Points: []counters.MetricPoint{
				{AtMS: 1, Count: measure.Known(4.0), Sum: measure.Known(8.0), Scale: measure.Known(1.0), ZeroCount: measure.Known(1.0), Max: measure.Known(2.0), Buckets: "1, 2"}}},
		}
		res.Processes = append(res.Processes, p)
		want += 4
	}
	for _, history := range []bool{false, true} {
		var b bytes.Buffer
		if err := prometheus.Write(&b, res, prometheus.Options{History: history, Start: time.Unix(100, 0)}); err != nil {
			t.Fatal(err)
		}
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(&b)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for name, f := range families {
			if !strings.HasPrefix(name, "p_") {
				t.Errorf("there is a metric %.40q", name)
			}
			for _, m := range f.Metric {
				got++
				if l := m.Label[0]; l.GetName() != "pid" {
					t.Errorf("%.40s begins with label %s", name, l)
				}
			}
		}
		if got != want {
			t.Errorf("history %t: %d metrics, want %d", history, got, want)
		}
	}
}
