package testtrace

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Script gives made-up events to a mux.
type Script struct {
	tb    testing.TB
	mux   *etw.Mux
	clock etw.Clock
	// PID, Activity and Stack are those of the events that follow.
	PID               int64
	Activity, Related etw.GUID
	Lost              uint32 // events of the thread before them
	Stack             etw.Stack
}

// NewScript returns a script for mux. Its process has the id 1.
func NewScript(tb testing.TB, mux *etw.Mux) *Script {
	return &Script{tb: tb, mux: mux, clock: etw.Clock{Frequency: 1e9}, PID: 1}
}

// Starts has the session begin at a time. It is to be called before there are events.
func (s *Script) Starts(at etw.FileTime) { s.clock.Start = at }

// Between chooses the part of the time of the mux from one time since the session began to another;
// 0 is no bound.
func (s *Script) Between(from, to time.Duration) {
	origin := when.Origin(&etw.Record{Clock: &s.clock})
	at := func(d time.Duration) (x time.Time) {
		if d != 0 {
			x = time.Unix(0, origin+int64(d))
		}
		return x
	}
	if from != 0 || to != 0 {
		window.Of(s.mux).Between(at(from), at(to))
	}
}

// Event gives an event of a thread, at a time since the session began, to the mux.
func (s *Script) Event(at time.Duration, thread int64, e etw.Event) {
	s.tb.Helper()
	r, err := record(e)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.Record(at, thread, r)
}

// Record gives a record of a thread to the mux.
func (s *Script) Record(at time.Duration, thread int64, r *etw.Record) {
	s.tb.Helper()
	r.ProcessID, r.ThreadID, r.Timestamp, r.Clock = s.PID, thread, int64(at), &s.clock
	r.ActivityID, r.RelatedActivityID, r.Stack, r.Lost = s.Activity, s.Related, s.Stack, s.Lost
	if err := s.mux.Dispatch(r); err != nil {
		s.tb.Fatal(err)
	}
	if stats := s.mux.Stats(); stats.Undecodable > 0 {
		s.tb.Fatal(stats.FirstError)
	}
}

// AStack is a call stack of addresses.
func AStack(addresses ...byte) etw.Stack {
	s := etw.Stack{PtrSize: etw.Ptr64}
	for _, a := range addresses {
		s.Addresses = append(s.Addresses, a, 0, 0, 0, 0, 0, 0, 0)
	}
	return s
}
