package conformance

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestGCStartTwice holds the documentation of GCStart: the .NET Framework writes versions 1
// and 2 for each collection, .NET version 2 alone.
func TestGCStartTwice(t *testing.T) {
	first, second := startsOf(t, corpus.File(t, "etl", "net.4.5.2.x64.etl"))
	if len(first) != 264 || len(second) != 264 {
		t.Fatalf("%d events in version 1, %d in version 2; want 264 of each", len(first), len(second))
	}
	for i, a := range first {
		b := second[i]
		if a.process != b.process || a.thread != b.thread || a.event != b.event {
			t.Errorf("start %d is %+v, then %+v", i, a, b)
		}
		if after := b.at.Sub(a.at); after < 0 || after > 24*time.Microsecond {
			t.Errorf("start %d: version 2 follows version 1 by %v", i, after)
		}
	}
	if first, second := startsOf(t, corpus.File(t, "dotnet10", "gc-workstation.nettrace")); len(first) != 0 || len(second) == 0 {
		t.Errorf(".NET 10: %d events in version 1, %d in version 2", len(first), len(second))
	}
}

// A gcStart is the common part of versions 1 and 2 of GCStart.
type gcStart struct {
	process, thread int64
	at              time.Time
	event           clr.GCStartV1
}

// startsOf returns the starts of collections in a trace, by version.
func startsOf(t *testing.T, path string) (first, second []gcStart) {
	decoder := etw.NewDecoder(clr.Provider).Typed(clr.Types()...)
	for r := range records(t, path) {
		e, err := decoder.Decode(r)
		if err != nil && decoder.Event(r).Basis == etw.BasisGenerated {
			t.Fatal(err)
		}
		s := gcStart{process: r.ProcessID, thread: r.ThreadID, at: r.Time()}
		switch e := e.(type) {
		case *clr.GCStartV1:
			s.event = *e
			first = append(first, s)
		case *clr.GCStartV2:
			s.event = clr.GCStartV1{Count: e.Count, Depth: e.Depth, Reason: e.Reason, Type: e.Type, ClrInstanceID: e.ClrInstanceID}
			second = append(second, s)
		}
	}
	return first, second
}
