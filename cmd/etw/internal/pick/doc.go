// Package pick chooses the records that a command is about: files, processes, times and
// filters. It opens the traces, and reads them for an analysis.
package pick
