// Package metrics has the events of System.Diagnostics.Metrics as Go types. Measures of
// meters, for a session that asks for it by arguments such as
// Metrics=System.Runtime;RefreshInterval=1. One event is one time series in one interval.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package metrics

//go:generate go tool etwgen gen --files one -o . metrics.man
