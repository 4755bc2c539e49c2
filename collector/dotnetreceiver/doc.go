// Package dotnetreceiver is the receiver dotnet of the OpenTelemetry Collector: it
// attaches to live .NET processes by their diagnostics port, and gives their events to
// pipelines as log records, pauses, counters and meters as metrics, and activities as
// spans. A process that is not there is waited for.
package dotnetreceiver
