// Package tcpip has the events of Microsoft-Windows-TCPIP that are asked for most: connections of TCP, state by state.
// Package windows says when to use it.
package tcpip

//go:generate go tool etwgen gen --tests --files one -o . tcpip.man
