// Package defender has the events of Microsoft-Windows-Windows Defender that are asked for most: findings and actions of the antivirus of
// Windows. Package windows says when to use it.
package defender

//go:generate go tool etwgen gen --tests --files one -o . defender.man
