// Package di has the events of Microsoft-Extensions-DependencyInjection as Go types. They
// tell which services containers make, and how.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package di

//go:generate go tool etwgen gen --files one -o . di.man
