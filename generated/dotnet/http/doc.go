// Package http has the events of System.Net.Http as Go types. The work of HttpClient and the
// handlers below it: requests, connections, and the steps in between. Events of one request
// share an activity.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package http

//go:generate go tool etwgen gen --files one -o . http.man
