// Package events has the events of Universal.Events as Go types: the samples, context
// switches and page faults that recorders of Linux machines take, each with a call stack
// in its record. Use it for samples of Linux that package cpu of analysis does not sum up
// as you want.
//
// A trace may have further events of this provider, which a script of the recorder chose:
// each has one number, and no type here.
package events

//go:generate go tool etwgen gen --tests --files one --provider Universal.Events -o . ../universal.man
