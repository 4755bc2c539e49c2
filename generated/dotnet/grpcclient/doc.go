// Package grpcclient has the events of Grpc.Net.Client as Go types. Calls of gRPC, by
// the client.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package grpcclient

//go:generate go tool etwgen gen --files one -o . grpcclient.man
