// Package framework has the events of System.Diagnostics.Eventing.FrameworkEventSource
// as Go types. How activities get from thread to thread: work given to the pool of
// threads, and operations of which the end comes on another one.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package framework

//go:generate go tool etwgen gen --files one -o . framework.man
