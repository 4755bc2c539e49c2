// Package tasks has the events of System.Threading.Tasks.TplEventSource as Go types. The
// work of tasks and async methods: which is scheduled, runs and is waited for, and who
// continues whom.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package tasks

//go:generate go tool etwgen gen --files one -o . tasks.man
