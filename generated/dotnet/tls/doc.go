// Package tls has the events of System.Net.Security as Go types. Handshakes of TLS, of
// clients and of servers.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package tls

//go:generate go tool etwgen gen --files one -o . tls.man
