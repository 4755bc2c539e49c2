// Package kestrel has the events of Microsoft-AspNetCore-Server-Kestrel as Go types.
// The server of ASP.NET Core: connections, requests and TLS.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package kestrel

//go:generate go tool etwgen gen --files one -o . kestrel.man
