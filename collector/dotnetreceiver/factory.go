package dotnetreceiver

import (
	"context"
	"errors"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow"
)

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory {
	f := &factory{}
	return receiver.NewFactory(metadata.Type, defaultConfig,
		receiver.WithLogs(f.logs, metadata.LogsStability),
		receiver.WithMetrics(f.metrics, metadata.MetricsStability),
		receiver.WithTraces(f.traces, metadata.TracesStability))
}

type factory struct {
	live flow.Registry[Config]
}

// core returns the receiver of a configuration, whatever the signal.
func (f *factory) core(set receiver.Settings, cfg component.Config) *flow.Core {
	c := cfg.(*Config)
	return f.live.Get(c, set, flow.Plan{
		Kind: metadata.Type.String(), Scope: metadata.ScopeName, Retry: c.Retry, ShutdownTimeout: c.ShutdownTimeout,
		Work: func(core *flow.Core) flow.Worker { return newWorker(c, core) },
	})
}

func (f *factory) logs(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	c := f.core(set, cfg)
	c.Sender.Logs = next
	return c, nil
}

func (f *factory) metrics(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Metrics) (receiver.Metrics, error) {
	own := cfg.(*Config)
	if !slices.Contains(own.Presets, "gc") && !slices.Contains(own.Presets, "counters") && len(own.Providers) == 0 {
		return nil, errors.New("the receiver is in a metrics pipeline but nothing is collected for metrics: add presets: [gc, counters]")
	}
	c := f.core(set, cfg)
	c.Sender.Metrics = next
	return c, nil
}

func (f *factory) traces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	own := cfg.(*Config)
	if !slices.Contains(own.Presets, "requests") && len(own.Providers) == 0 {
		return nil, errors.New("the receiver is in a traces pipeline but nothing is collected for traces: add presets: [requests]")
	}
	c := f.core(set, cfg)
	c.Sender.Traces = next
	return c, nil
}
