package tracefilereceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/collector/tracefilereceiver/internal/metadata"
)

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory {
	f := &factory{}
	return xreceiver.NewFactory(metadata.Type, defaultConfig,
		xreceiver.WithLogs(f.logs, metadata.LogsStability),
		xreceiver.WithMetrics(f.metrics, metadata.MetricsStability),
		xreceiver.WithTraces(f.traces, metadata.TracesStability),
		xreceiver.WithDeprecatedTypeAlias(metadata.Alias))
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
	c := f.core(set, cfg)
	c.Sender.Metrics = next
	return c, nil
}

func (f *factory) traces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	c := f.core(set, cfg)
	c.Sender.Traces = next
	return c, nil
}
