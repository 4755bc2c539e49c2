// Package diagnosticsource has the events of Microsoft-Diagnostics-DiagnosticSource as
// Go types. Events of DiagnosticListeners, and activities as OpenTelemetry knows them,
// for a session that asks for them by the argument FilterAndPayloadSpecs.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package diagnosticsource

//go:generate go tool etwgen gen --files one -o . diagnosticsource.man
