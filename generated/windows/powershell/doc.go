// Package powershell has the events of Microsoft-Windows-PowerShell that are asked for most: scripts and commands that PowerShell runs.
// Package windows says when to use it.
package powershell

//go:generate go tool etwgen gen --tests --files one -o . powershell.man
