// Package recyclable has the events of Microsoft-IO-RecyclableMemoryStream as Go
// types. Streams in memory that lend their buffers from pools.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package recyclable

//go:generate go tool etwgen gen --files one -o . recyclable.man
