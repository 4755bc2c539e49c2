// Package etwreceiver is the receiver etw of the OpenTelemetry Collector: it has a
// session of Event Tracing for Windows, and gives its events to pipelines as log records.
package etwreceiver
