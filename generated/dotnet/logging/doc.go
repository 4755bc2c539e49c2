// Package logging has the events of Microsoft-Extensions-Logging as Go types. Logs of a
// program by ILogger, in one of three forms: which one, the keywords say. A session's
// argument FilterSpecs chooses loggers and levels.
//
// The source describes its events in each trace and numbers them as the program runs:
// they are found by their names.
//
// As in package clr, decoding allocates nothing, and strings are views of the payload.
package logging

//go:generate go tool etwgen gen --files one -o . logging.man
