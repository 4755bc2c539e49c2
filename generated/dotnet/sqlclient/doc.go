// Package sqlclient has the events of Microsoft.Data.SqlClient.EventSource as Go
// types. The client of SQL Server: commands, pools, and a trace of its own code.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package sqlclient

//go:generate go tool etwgen gen --files one -o . sqlclient.man
