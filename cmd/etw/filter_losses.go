package main

import "github.com/etwgen/etwgen/runtime/etw"

// A lossOf is what lost events: a session, or a thread in it.
type lossOf struct {
	clock           etw.Clock
	session         string
	process, thread int64
}

// Losses are the numbers of events that were lost. The parts of one trace tell each
// what the whole of it lost, and so the largest number counts.
type losses map[lossOf]int64

func (l losses) note(of lossOf, n int64) {
	if n > 0 {
		l[of] = max(l[of], n)
	}
}

func (l losses) sum() int64 {
	sum := int64(0)
	for _, n := range l {
		sum += n
	}
	return sum
}
