package etwreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/etwgen/etwgen/collector/etwreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow"
)

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory { return newFactory(system) }

func newFactory(start starter) receiver.Factory {
	var live flow.Registry[Config]
	return receiver.NewFactory(metadata.Type, defaultConfig, receiver.WithLogs(
		func(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
			c := cfg.(*Config)
			core := live.Get(c, set, flow.Plan{
				Kind: metadata.Type.String(), Scope: metadata.ScopeName, Retry: c.Retry, ShutdownTimeout: c.ShutdownTimeout,
				Work: func(core *flow.Core) flow.Worker { return &worker{cfg: c, core: core, start: start} },
			})
			core.Sender.Logs = next
			return core, nil
		}, metadata.LogsStability))
}
