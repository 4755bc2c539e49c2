package dotnetreceiver

import (
	"errors"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/etwgen/etwgen/collector/dotnetreceiver/internal/metadata"
	"github.com/etwgen/etwgen/collector/internal/flow"
)

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory {
	f := &flow.Factory[Config]{Check: collects, Plan: func(c *Config) flow.Plan {
		return flow.Plan{
			Retry: c.Retry, ShutdownTimeout: c.ShutdownTimeout, Manifests: c.Manifests, Transport: "eventpipe", Instruments: instruments,
			Work: func(core *flow.Core) flow.Worker { return newWorker(c, core) },
		}
	}}
	return xreceiver.NewFactory(metadata.Type, defaultConfig,
		xreceiver.WithLogs(f.Logs, metadata.LogsStability),
		xreceiver.WithMetrics(f.Metrics, metadata.MetricsStability),
		xreceiver.WithTraces(f.Traces, metadata.TracesStability),
		xreceiver.WithProfiles(f.Profiles, metadata.ProfilesStability))
}

// collects says why nothing is collected for a signal.
func collects(c *Config, signal pipeline.Signal) error {
	has := func(preset string) bool { return slices.Contains(c.Presets, preset) || len(c.Providers) > 0 }
	switch {
	case signal == pipeline.SignalMetrics && !has("gc") && !has("counters"):
		return errors.New("the receiver is in a metrics pipeline but nothing is collected for metrics: add presets: [gc, counters]")
	case signal == pipeline.SignalTraces && !has("requests") && !has("cause"):
		return errors.New("the receiver is in a traces pipeline but nothing is collected for traces: add presets: [requests]")
	case signal == xpipeline.SignalProfiles && len(c.profiled(true)) == 0:
		return errors.New("the receiver is in a profiles pipeline but nothing is collected for profiles: add presets: [cpu, allocs]")
	}
	return nil
}

// instruments returns those of metadata.yaml.
func instruments(set component.TelemetrySettings) (flow.Instruments, error) {
	b, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return flow.Instruments{}, err
	}
	return flow.Instruments{
		Events: b.ReceiverDotnetEvents, Lost: b.ReceiverDotnetEventsLost, Wait: b.ReceiverDotnetWaitTime,
		Windows: b.ReceiverDotnetProfileWindows, Cost: b.ReceiverDotnetProfileCost,
		Sessions: b.ReceiverDotnetSessions, Reattaches: b.ReceiverDotnetReattaches,
		Lag: b.RegisterReceiverDotnetLagCallback, Shutdown: b.Shutdown,
	}, nil
}
