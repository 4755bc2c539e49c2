// Package registry has the events of Microsoft-Windows-Kernel-Registry that are asked for most: requests of programs to the
// registry. Package windows says when to use it.
package registry

//go:generate go tool etwgen gen --tests --files one -o . registry.man
