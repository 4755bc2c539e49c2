// Package disk has the events of Microsoft-Windows-Kernel-Disk as Go types: the answers of
// disks. Package windows says when to use it.
package disk

//go:generate go tool etwgen gen --tests --files one --provider Microsoft-Windows-Kernel-Disk -o . ../windows.man
