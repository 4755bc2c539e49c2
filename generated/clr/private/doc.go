// Package private has the events of Microsoft-Windows-DotNETRuntimePrivate as Go types:
// the inside of a .NET runtime, as its own developers watch it. It has the steps of the
// runtime's start, of the binding of assemblies by the .NET Framework and of background
// collections, and the older versions of events that are now in package clr. Use it for
// old runtimes, and for questions about their start.
//
// As in package clr, decoding allocates nothing, and strings and arrays are views
// of the payload.
package private

//go:generate go tool etwgen gen --tests --accessor ClrInstanceID --provider Microsoft-Windows-DotNETRuntimePrivate -o . ../clr.man
