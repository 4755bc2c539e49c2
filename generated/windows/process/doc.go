// Package process has the events of Microsoft-Windows-Kernel-Process as Go types: processes, threads and images as they come and go.
// Package windows says when to use it.
package process

//go:generate go tool etwgen gen --tests --files one --provider Microsoft-Windows-Kernel-Process -o . ../windows.man
