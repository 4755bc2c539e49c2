// Package dataflow has the events of
// System.Threading.Tasks.Dataflow.DataflowEventSource as Go types. Blocks of
// System.Threading.Tasks.Dataflow: made, linked, at work, completed.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package dataflow

//go:generate go tool etwgen gen --files one -o . dataflow.man
