// Package signalr has the events of Microsoft.AspNetCore.Http.Connections as Go types.
// Connections of SignalR.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package signalr

//go:generate go tool etwgen gen --files one -o . signalr.man
