// Package defender has the events of Microsoft-Windows-Windows Defender that are asked for most: what the antivirus of Windows finds and does.
// Package windows says when to use it.
package defender

//go:generate go tool etwgen gen --tests --files one -o . defender.man
