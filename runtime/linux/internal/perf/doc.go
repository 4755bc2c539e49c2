// Package perf takes the events of the Linux kernel about running programs, by its system
// call perf_event_open: samples of processors and the switches of threads, both with call
// stacks, and which programs start, end, and have files in memory. Elsewhere [Open] returns
// an error.
//
// The kernel writes into one ring of memory for each processor. A [Session] reads the rings
// and puts their records in the order of time.
package perf

import "time"

// A Config chooses the events of a Session.
type Config struct {
	// Processes are those to follow, with the threads and processes that they start. None
	// are all of the machine.
	Processes []int
	// Interval is the time between two samples of a processor.
	Interval time.Duration
	// RingBytes is the size of the ring of each processor. It is rounded down to a power of
	// two, of one page at least.
	RingBytes int
	// StackBytes is how much of the stack of a program is copied with each sample and switch,
	// and Registers which of its registers: 0 copies nothing.
	StackBytes int
	Registers  uint64
	// Tracepoints are the numbers of events of the kernel that are taken, too.
	Tracepoints []uint16
	// SamplesAlone leaves all out but samples and tracepoints.
	SamplesAlone bool
}
