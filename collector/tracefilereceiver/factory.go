package tracefilereceiver

import (
	"io"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/collector/tracefilereceiver/internal/metadata"
)

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory {
	return factoryOver(nil)
}

// factoryOver returns one whose receivers read files through the reader of medium, unless it
// is nil.
func factoryOver(medium func(io.ReaderAt) io.ReaderAt) receiver.Factory {
	f := &flow.Factory[Config]{Plan: func(c *Config) flow.Plan {
		return flow.Plan{
			Retry: c.Retry, ShutdownTimeout: c.ShutdownTimeout, Manifests: c.Manifests, Transport: "file", Instruments: instruments,
			Work: func(core *flow.Core) flow.Worker {
				w := newWorker(c, core)
				w.medium = medium
				return w
			},
		}
	}}
	return xreceiver.NewFactory(metadata.Type, defaultConfig,
		xreceiver.WithLogs(f.Logs, metadata.LogsStability),
		xreceiver.WithMetrics(f.Metrics, metadata.MetricsStability),
		xreceiver.WithTraces(f.Traces, metadata.TracesStability),
		xreceiver.WithProfiles(f.Profiles, metadata.ProfilesStability),
		xreceiver.WithDeprecatedTypeAlias(metadata.DeprecatedType))
}

// instruments returns those of metadata.yaml.
func instruments(set component.TelemetrySettings) (flow.Instruments, error) {
	b, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return flow.Instruments{}, err
	}
	return flow.Instruments{
		Events: b.ReceiverTraceFileEvents, Lost: b.ReceiverTraceFileEventsLost, Wait: b.ReceiverTraceFileWaitTime,
		Files: b.ReceiverTraceFileFiles, Checkpoints: b.ReceiverTraceFileCheckpoints,
		Lag: b.RegisterReceiverTraceFileLagCallback, Shutdown: b.Shutdown,
	}, nil
}
