// Package tracefilereceiver is the receiver trace_file of the OpenTelemetry Collector: it
// reads .etl and .nettrace files, also packed ones, and gives their events to pipelines as
// log records, and their metrics and requests as metrics and spans. No trace is sent twice,
// whatever it is called and however it is packed.
package tracefilereceiver
