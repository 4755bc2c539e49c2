package pick

import (
	"time"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace/rewrite"
)

// A Sieve takes the records for an answer: those that a header chooses, and those that it needs to
// understand them.
type Sieve struct {
	header filter.Header
	all    bool
	keeper *rewrite.Keeper
}

// NewSieve returns the sieve of a header; a wide one is of all times.
func NewSieve(h *filter.Header, wide bool) *Sieve {
	s := &Sieve{header: *h, keeper: &rewrite.Keeper{Stacks: true, Answer: true, Process: h.Processes.Has}}
	if wide {
		s.header.From, s.header.To = nil, nil
	}
	s.all = s.header.All()
	return s
}

// WholeSieve returns the sieve of a header for an answer that knows by itself which activities were
// asked for: of --activity it takes the records of all.
func WholeSieve(h *filter.Header, wide bool) *Sieve {
	all := *h
	if all.Taken = nil; all.Caused != nil {
		all.During = nil
	}
	return NewSieve(&all, wide)
}

// Takes reports whether to take a record, which was logged the given time after the session began.
func (s *Sieve) Takes(r *etw.Record, e *etw.EventInfo, elapsed time.Duration) bool {
	switch {
	case s.all:
	case s.header.Judge(r, e, elapsed) == filter.Take:
		s.keeper.Chose(r)
		if s.header.Taken != nil {
			s.header.Taken(r, elapsed)
		}
	default:
		return s.keeper.Needs(r)
	}
	return true
}
