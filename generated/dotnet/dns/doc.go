// Package dns has the events of System.Net.NameResolution as Go types. Lookups of
// names of hosts and of addresses by System.Net.Dns.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package dns

//go:generate go tool etwgen gen --files one -o . dns.man
