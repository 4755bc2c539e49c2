package prometheus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/export/prometheus"
)

func result() *counters.Result {
	known := measure.Known
	return &counters.Result{Processes: []counters.Process{{PID: 7,
		Counters: []counters.Counter{
			{Provider: "System.Runtime", Name: "cpu-usage", Unit: "%", Type: "Mean", Description: `a\b`, Points: []counters.Point{{AtMS: 1000, Mean: known(1.5)}, {AtMS: 2000, Mean: known(2)}}},
			{Provider: "System.Runtime", Name: "exception-count", Type: "Sum", Points: []counters.Point{{AtMS: 1000, Increment: known(3)}, {AtMS: 2000, Increment: known(4)}}},
		},
		Metrics: []counters.Metric{{Meter: "M", Instrument: "d", Tags: `a.b=x"y`, Points: []counters.MetricPoint{
			{AtMS: 1000, Count: known(2), Sum: known(5), Quantiles: map[string]measure.Float{"0.5": known(2), "0.99": known(3)}},
			{AtMS: 2000, Count: known(1), Sum: known(1), Quantiles: map[string]measure.Float{"0.5": known(1), "0.99": known(1)}},
		}}},
	}}}
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := prometheus.Write(&b, result(), prometheus.Options{}); err != nil {
		t.Fatal(err)
	}
	want := `# HELP m_d 
# TYPE m_d summary
m_d{pid="7",a_b="x\"y",quantile="0.5"} 1
m_d{pid="7",a_b="x\"y",quantile="0.99"} 1
m_d_count{pid="7",a_b="x\"y"} 3
m_d_sum{pid="7",a_b="x\"y"} 6
# HELP system_runtime_cpu_usage a\\b %
# TYPE system_runtime_cpu_usage gauge
system_runtime_cpu_usage{pid="7"} 2
# HELP system_runtime_exception_count_total 
# TYPE system_runtime_exception_count_total counter
system_runtime_exception_count_total{pid="7"} 7
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestHistogram writes exponential histograms with one set of buckets, whether each has all
// values or those of one interval.
func TestHistogram(t *testing.T) {
	known := measure.Known
	point := func(at, count, scale, largest float64, buckets string) counters.MetricPoint {
		return counters.MetricPoint{AtMS: at, Count: known(count), Sum: known(count * 2), Scale: known(scale), ZeroCount: known(1), Max: known(largest), Buckets: buckets}
	}
	metric := counters.Metric{Meter: "M", Instrument: "d", Tags: "le=x,q=y"}
	all, deltas := metric, metric
	all.Points = []counters.MetricPoint{point(1000, 4, 1, 2, "1, 2"), point(2000, 7, 0, 4, "3, 3")}
	deltas.Points = []counters.MetricPoint{point(1000, 4, 1, 2, "1, 2"), point(2000, 4, 0, 4, "3")}
	deltas.Deltas = true
	for _, c := range []struct {
		metric counters.Metric
		zeros  string
		sum    string
	}{{all, "7", "14"}, {deltas, "8", "16"}} {
		var b strings.Builder
		res := &counters.Result{Processes: []counters.Process{{PID: 7, Metrics: []counters.Metric{c.metric}}}}
		if err := prometheus.Write(&b, res, prometheus.Options{OpenMetrics: true, History: true, Start: time.Unix(100, 0)}); err != nil {
			t.Fatal(err)
		}
		middle := "4"
		if c.metric.Deltas {
			middle = "5" // the zero of the second interval
		}
		want := `# HELP m_d 
# TYPE m_d histogram
m_d_bucket{pid="7",q="y",le="2"} 4 101.000
m_d_bucket{pid="7",q="y",le="2"} ` + middle + ` 102.000
m_d_bucket{pid="7",q="y",le="4"} 4 101.000
m_d_bucket{pid="7",q="y",le="4"} ` + c.zeros + ` 102.000
m_d_bucket{pid="7",q="y",le="+Inf"} 4 101.000
m_d_bucket{pid="7",q="y",le="+Inf"} ` + c.zeros + ` 102.000
m_d_count{pid="7",q="y"} 4 101.000
m_d_count{pid="7",q="y"} ` + c.zeros + ` 102.000
m_d_sum{pid="7",q="y"} 8 101.000
m_d_sum{pid="7",q="y"} ` + c.sum + ` 102.000
# EOF
`
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("deltas %v (-want +got)\n%s", c.metric.Deltas, diff)
		}
	}
}

func TestOpenMetrics(t *testing.T) {
	var b strings.Builder
	o := prometheus.Options{OpenMetrics: true, History: true, Start: time.Unix(100, 0)}
	if err := prometheus.Write(&b, result(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# TYPE system_runtime_exception_count counter\nsystem_runtime_exception_count_total{pid=\"7\"} 3 101.000\nsystem_runtime_exception_count_total{pid=\"7\"} 7 102.000\n",
		"system_runtime_cpu_usage{pid=\"7\"} 1.5 101.000\nsystem_runtime_cpu_usage{pid=\"7\"} 2 102.000\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no\n%s in\n%s", want, b.String())
		}
	}
	if !strings.HasSuffix(b.String(), "\n# EOF\n") {
		t.Error("there is no end")
	}
}
