// Package dns has the events of Microsoft-Windows-DNS-Client that are asked for most: lookups of names by Windows.
// Package windows says when to use it.
package dns

//go:generate go tool etwgen gen --tests --files one -o . dns.man
