// Package stress has the events of Microsoft-Windows-DotNETRuntimeStress as Go types: the
// messages of a .NET runtime's stress log, a log for hunting faults of the runtime
// itself, which only special configurations write. Use it for faults of a runtime.
//
// As in package clr, decoding allocates nothing, and strings are views of the
// payload.
package stress

//go:generate go tool etwgen gen --tests --accessor ClrInstanceID --provider Microsoft-Windows-DotNETRuntimeStress -o . ../clr.man
