// Package auditing has the events of Microsoft-Windows-Security-Auditing that are asked for most: logons, processes, access: the security log.
// Package windows says when to use it.
package auditing

//go:generate go tool etwgen gen --tests --files one -o . auditing.man
