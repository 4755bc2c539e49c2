// Package file has the events of Microsoft-Windows-Kernel-File as Go types: requests to file systems.
// Package windows says when to use it.
package file

//go:generate go tool etwgen gen --tests --files one --provider Microsoft-Windows-Kernel-File -o . ../windows.man
