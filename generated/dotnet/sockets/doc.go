// Package sockets has the events of System.Net.Sockets as Go types. They tell of the work of
// sockets: connections made and accepted.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package sockets

//go:generate go tool etwgen gen --files one -o . sockets.man
