// Package concurrent has the events of
// System.Collections.Concurrent.ConcurrentCollectionsEventSource as Go types.
// Contention within the collections of System.Collections.Concurrent.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package concurrent

//go:generate go tool etwgen gen --files one -o . concurrent.man
