// Package etltest writes .etl files: for tests, for fuzzing, and for fixtures of programs
// that read traces. Use it where a test needs a file that nobody has recorded.
//
// A [Writer] takes records as package etl delivers them, in any order, and lays
// them out as Windows does: in buffers for each processor, compressed or not,
// behind a buffer with the header of the log file.
package etltest
