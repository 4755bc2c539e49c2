package flow

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A MetricsConfig says which metrics are made.
type MetricsConfig struct {
	// Source is where those of the runtime come from: meters, counters, events, or auto,
	// which takes the first of these that there is.
	Source string `mapstructure:"source"`
	// Temporality is cumulative or delta.
	Temporality string `mapstructure:"temporality"`
	// Rename has metrics called as the semantic conventions have them.
	Rename bool `mapstructure:"rename"`
}

// DefaultMetrics is the default.
func DefaultMetrics() MetricsConfig {
	return MetricsConfig{Source: SourceAuto, Temporality: "cumulative", Rename: true}
}

// The sources of metrics of the runtime.
const (
	SourceAuto     = "auto"
	SourceMeters   = "meters"
	SourceCounters = "counters"
	SourceEvents   = "events"
)

// Validate reports settings that make no sense.
func (c *MetricsConfig) Validate() error {
	if err := OneOf("source", c.Source, SourceAuto, SourceMeters, SourceCounters, SourceEvents); err != nil {
		return err
	}
	return OneOf("temporality", c.Temporality, "cumulative", "delta")
}

// answers are the analyses whose results are metrics and spans.
type answers struct {
	cfg      *StreamConfig
	mux      etw.Mux
	counters *counters.Analysis
	gc       *gc.Analysis
	requests *requests.Analysis
	metrics  otlp.Metrics
	spans    otlp.Spans
	pending  pmetric.Metrics // that were not taken yet
	collects bool            // events tell of collections
}

func newAnswers(cfg *StreamConfig) *answers {
	a := &answers{cfg: cfg, pending: pmetric.NewMetrics()}
	a.spans.Resource, a.metrics.Resource = cfg.Resource, cfg.Resource
	a.metrics.Delta = cfg.Metrics.Temporality == "delta"
	a.metrics.Conventions, a.metrics.Continue = cfg.Metrics.Rename, cfg.Live
	a.collects = cfg.Collections
	if cfg.Sender.Metrics != nil {
		a.counters, a.gc = counters.New(&a.mux), gc.New(&a.mux)
	}
	if cfg.Sender.Traces != nil {
		a.requests = requests.New(&a.mux)
		a.requests.Tell()
		a.requests.OnEnd(a.spans.Add)
	}
	return a
}

// take has the analyses see a record. An event that cannot be decoded is left out.
func (a *answers) take(rec *etw.Record) {
	if a.metrics.Start.IsZero() && rec.Clock != nil {
		a.metrics.Start = rec.Clock.Start.Time()
		a.spans.Start = a.metrics.Start
	}
	a.mux.Dispatch(rec)
}

// sendSpans gives away the spans that ended.
func (a *answers) sendSpans() error {
	if a.spans.Count() == 0 {
		return nil
	}
	data, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(a.spans.AppendJSON(nil))
	if err != nil {
		return fmt.Errorf("spans: %w", err)
	}
	if err := a.cfg.Sender.SendTraces(data, a.cfg.Format); err != nil {
		return err
	}
	a.spans.Reset()
	return nil
}

// sendMetrics passes new metrics on.
func (a *answers) sendMetrics() error {
	if a.metrics.Start.IsZero() {
		return nil // nothing has come
	}
	res := a.counters.Drain()
	source := a.source(res)
	a.gc.Drain(func(pid int64, g *gc.GC) {
		a.collects = true
		a.metrics.AddGC(pid, g)
	})
	totals := a.cfg.Metrics.Rename && source != SourceMeters
	choose(res, source, totals && a.collects)
	body := a.metrics.AppendPauses(a.metrics.AppendCounters(nil, res), totals)
	for line := range bytes.Lines(body) {
		data, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics(line)
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		data.ResourceMetrics().MoveAndAppendTo(a.pending.ResourceMetrics())
	}
	if a.pending.DataPointCount() == 0 {
		return nil
	}
	if err := a.cfg.Sender.SendMetrics(a.pending, a.cfg.Format); err != nil {
		return err
	}
	a.pending = pmetric.NewMetrics()
	return nil
}

// source returns where the metrics of the runtime come from.
func (a *answers) source(res *counters.Result) string {
	if a.cfg.Metrics.Source != SourceAuto {
		return a.cfg.Metrics.Source
	}
	for i := range res.Processes {
		if slices.ContainsFunc(res.Processes[i].Metrics, func(m counters.Metric) bool { return m.Meter == otlp.RuntimeMeter }) {
			return SourceMeters
		}
	}
	return SourceCounters
}

// ofCollections are the event counters that tell the same as events of collections.
var ofCollections = regexp.MustCompile(`^(gen-[0-9]+-gc-count|total-pause-time-by-gc)$`)

// choose leaves the metrics of the runtime from one source alone. Collects says that
// events tell of collections.
func choose(res *counters.Result, source string, collects bool) {
	for i := range res.Processes {
		p := &res.Processes[i]
		if source != SourceMeters {
			p.Metrics = slices.DeleteFunc(p.Metrics, func(m counters.Metric) bool { return m.Meter == otlp.RuntimeMeter })
		}
		p.Counters = slices.DeleteFunc(p.Counters, func(c counters.Counter) bool {
			return c.Provider == otlp.RuntimeMeter && (source != SourceCounters || collects && ofCollections.MatchString(c.Name))
		})
	}
}

// Sleep waits for a time, or until done is closed. It reports whether the time passed.
func Sleep(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return false
	case <-t.C:
		return true
	}
}
