// Package events has the events of the example service.
package events

//go:generate go run github.com/etwgen/etwgen/cmd/etwgen gen --files one service.man
