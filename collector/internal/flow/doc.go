// Package flow is the common part of the receivers: events become telemetry, and telemetry
// is given to the pipelines in batches, as fast as these take it.
//
//	source ─► Stream ─► Sender ─► pipelines
//
// A Stream makes log records, metrics and spans of records, by the mapping of package
// export/otlp. A Sender gives them away: it retries batches that a pipeline refuses for a
// while, so that the reader of the source waits, and counts those given up.
package flow
