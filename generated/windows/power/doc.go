// Package power has the events of Microsoft-Windows-Kernel-Power that are asked for most: sleep, shutdown, power supply.
// Package windows says when to use it.
package power

//go:generate go tool etwgen gen --tests --files one -o . power.man
