package etwreceiver

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver"

	"github.com/etwgen/etwgen/collector/etwreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow"
)

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory { return newFactory(system) }

func newFactory(start starter) receiver.Factory {
	f := &flow.Factory[Config]{Plan: func(c *Config) flow.Plan {
		return flow.Plan{
			Retry: c.Retry, ShutdownTimeout: c.ShutdownTimeout, Manifests: c.Manifests, Transport: "etw", Instruments: instruments,
			Work: func(core *flow.Core) flow.Worker {
				return &worker{cfg: c, core: core, start: start, events: flow.NewEvents(c.Events)}
			},
		}
	}}
	return receiver.NewFactory(metadata.Type, defaultConfig, receiver.WithLogs(f.Logs, metadata.LogsStability))
}

// instruments returns those of metadata.yaml.
func instruments(set component.TelemetrySettings) (flow.Instruments, error) {
	b, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return flow.Instruments{}, err
	}
	return flow.Instruments{
		Events: b.ReceiverEtwEvents, Lost: b.ReceiverEtwEventsLost, Wait: b.ReceiverEtwWaitTime,
		Sessions: b.ReceiverEtwSessions, Reattaches: b.ReceiverEtwReattaches,
		Lag: b.RegisterReceiverEtwLagCallback, Shutdown: b.Shutdown,
	}, nil
}
