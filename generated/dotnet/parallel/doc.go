// Package parallel has the events of System.Threading.Tasks.Parallel.EventSource as Go
// types. Loops and calls of System.Threading.Tasks.Parallel.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package parallel

//go:generate go tool etwgen gen --files one -o . parallel.man
