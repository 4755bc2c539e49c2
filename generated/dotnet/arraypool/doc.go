// Package arraypool has the events of System.Buffers.ArrayPoolEventSource as Go types.
// Arrays that pools lend, and those that they had to make. Programs rent very many.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package arraypool

//go:generate go tool etwgen gen --files one -o . arraypool.man
