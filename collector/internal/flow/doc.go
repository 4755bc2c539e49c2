// Package flow is what the receivers share: events become telemetry, and telemetry is
// given to the pipelines in batches, as fast as these take it.
//
//	source ─► Stream ─► Sender ─► pipelines
//
// A Stream makes log records, metrics and spans of records, by the mapping of package
// export/otlp. A Sender gives them away: it tries again what a pipeline refuses for a
// while, so that who reads the source waits, and counts what is given up.
package flow
