// Package plinq has the events of System.Linq.Parallel.PlinqEventSource as Go types.
// Queries of Parallel LINQ, and the threads that share them.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package plinq

//go:generate go tool etwgen gen --files one -o . plinq.man
