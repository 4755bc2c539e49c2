// Package azurecore has the events of Azure-Core as Go types. Requests of Azure's
// libraries over HTTP, with retries. Bodies of requests and responses are logged only
// if the program asks for it.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package azurecore

//go:generate go tool etwgen gen --files one -o . azurecore.man
