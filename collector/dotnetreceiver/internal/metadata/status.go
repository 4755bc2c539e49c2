// Package metadata has what metadata.yaml says of the receiver.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is that of the receiver.
var Type = component.MustNewType("dotnet")

// ScopeName is that of its own telemetry.
const ScopeName = "github.com/etwgen/etwgen/collector/dotnetreceiver"

// How stable the signals are.
const (
	LogsStability    = component.StabilityLevelAlpha
	MetricsStability = component.StabilityLevelAlpha
	TracesStability  = component.StabilityLevelAlpha
)
