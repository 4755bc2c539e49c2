// Package hosting has the events of Microsoft.AspNetCore.Hosting as Go types. Requests
// as ASP.NET Core handles them, whatever the server.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package hosting

//go:generate go tool etwgen gen --files one -o . hosting.man
