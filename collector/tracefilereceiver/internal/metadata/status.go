// Package metadata has what metadata.yaml says of the receiver.
package metadata

import "go.opentelemetry.io/collector/component"

var (
	// Type is that of the receiver.
	Type = component.MustNewType("trace_file")
	// Alias is the type under which it is known, too.
	Alias = component.MustNewType("tracefile")
)

// ScopeName is that of its own telemetry.
const ScopeName = "github.com/etwgen/etwgen/collector/tracefilereceiver"

// How stable the signals are.
const (
	LogsStability    = component.StabilityLevelAlpha
	MetricsStability = component.StabilityLevelAlpha
	TracesStability  = component.StabilityLevelAlpha
)
