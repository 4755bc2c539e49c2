// Package grpcserver has the events of Grpc.AspNetCore.Server as Go types. Calls of
// gRPC, by the server.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package grpcserver

//go:generate go tool etwgen gen --files one -o . grpcserver.man
