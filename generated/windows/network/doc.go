// Package network has the events of Microsoft-Windows-Kernel-Network as Go types: traffic over TCP and UDP.
// Package windows says when to use it.
package network

//go:generate go tool etwgen gen --tests --files one --provider Microsoft-Windows-Kernel-Network -o . ../windows.man
