package main

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// A subject is a trace to be mutated, with its records while it is intact. Records are told
// apart by number: equal ones have the same.
type subject struct {
	*mutate.Trace
	numbers map[uint64]int // by digest
	total   []int          // how often each is in the trace
	order   []int          // of the records in the order of the file, or for .etl of time
	parts   [][]int        // the records of each part
	intact  outcome
}

// newSubject reads an intact trace. The records of each part show in those of the trace cut
// off behind that part.
func newSubject(t *mutate.Trace) (*subject, error) {
	s := &subject{Trace: t, numbers: make(map[uint64]int)}
	var broken error
	s.intact, broken = read(t.Format, t.Data, false, func(rec *etw.Record) {
		d := digest(rec)
		n, known := s.numbers[d]
		if !known {
			n = len(s.total)
			s.numbers[d] = n
			s.total = append(s.total, 0)
		}
		s.total[n]++
		s.order = append(s.order, n)
	})
	if broken != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, broken)
	}
	before := make([]int, len(s.total))
	sum := 0
	for _, p := range t.Parts {
		now := make([]int, len(s.total))
		_, broken := read(t.Format, t.Data[:p.End], false, func(rec *etw.Record) {
			if n, known := s.numbers[digest(rec)]; known {
				now[n]++
			}
		})
		if broken != nil {
			return nil, fmt.Errorf("%s, cut off after byte %d: %w", t.Name, p.End, broken)
		}
		var records []int
		for n := range now {
			for range now[n] - before[n] {
				records = append(records, n)
			}
		}
		s.parts = append(s.parts, records)
		sum += len(records)
		before = now
	}
	if sum != len(s.order) {
		return nil, fmt.Errorf("%s: its parts have %d records, but it has %d", t.Name, sum, len(s.order))
	}
	return s, nil
}

// clean reports whether the intact trace is read without an error.
func (s *subject) clean() bool { return s.intact.err == nil }
