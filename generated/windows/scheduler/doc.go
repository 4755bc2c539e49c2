// Package scheduler has the events of Microsoft-Windows-TaskScheduler that are asked for most: scheduled tasks as they run.
// Package windows says when to use it.
package scheduler

//go:generate go tool etwgen gen --tests --files one -o . scheduler.man
