// Package metadata has what metadata.yaml says of the receiver.
package metadata

import "go.opentelemetry.io/collector/component"

// Type is that of the receiver.
var Type = component.MustNewType("etw")

// ScopeName is that of its own telemetry.
const ScopeName = "github.com/etwgen/etwgen/collector/etwreceiver"

// LogsStability is how stable the one signal is.
const LogsStability = component.StabilityLevelAlpha
