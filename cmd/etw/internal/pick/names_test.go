package pick

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestJoin: of a number that two processes had an answer about all of the time names both, and
// either name finds it.
func TestJoin(t *testing.T) {
	n, decoder := NewNames(), builtin.NewDecoder()
	learn := func(e etw.Event, opcode etw.Opcode) {
		d := e.EventDesc()
		payload := testio.Payload(t, e, etw.Ptr64)
		r := &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: opcode, Version: d.Version, PointerSize: etw.Ptr64, Payload: payload}
		n.Learn(decoder, r, decoder.Event(r))
	}
	const listed, started = 3, 1
	learn(&kernel.ProcessDCStartV3{ProcessID: 300, ImageFileName: etw.ANSI("first.exe")}, listed)
	learn(&kernel.ProcessStartV3{ProcessID: 300, ImageFileName: etw.ANSI("second.exe")}, started)
	learn(&kernel.ProcessStartV3{ProcessID: 300, ImageFileName: etw.ANSI("second.exe")}, started)
	if got := n.Process(300); got != "second.exe" {
		t.Errorf("while it is read it is %q", got)
	}
	n.Join()
	n.Join()
	if got := n.Process(300); got != "first.exe, then second.exe" {
		t.Errorf("in the end it is %q", got)
	}
	for _, pattern := range []filter.Glob{"first", "second.exe"} {
		if found, err := called(n.Processes, []filter.Glob{pattern}, "process", "process"); err != nil || !found.Has(300) || found.Has(301) {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
	if _, err := called(n.Processes, []filter.Glob{"first,second.exe"}, "process", "process"); err == nil || !strings.Contains(err.Error(), "for each of several names give --process") {
		t.Errorf("a list of names: %v", err)
	}
}

// TestNobody: before a process began, its number had a process of which the trace does not tell the name.
func TestNobody(t *testing.T) {
	n, decoder, e := NewNames(), builtin.NewDecoder(), &kernel.ProcessStartV3{ProcessID: 300, ImageFileName: etw.ANSI("late.exe")}
	payload := testio.Payload(t, e, etw.Ptr64)
	r := &etw.Record{Kind: etw.KindClassic, Provider: e.EventDesc().Class, Opcode: 1, Version: 3, PointerSize: etw.Ptr64, Timestamp: 133_000_000_000_000_000, Payload: payload}
	n.Learn(decoder, r, decoder.Event(r))
	n.Join()
	at := r.Time().UnixNano()
	if before, then, all := n.OfProcessAt(300, at-1), n.OfProcessAt(300, at), n.Process(300); before != "process 300" || then != "late.exe (300)" || all != "late.exe" {
		t.Errorf("%q, then %q, in all %q", before, then, all)
	}
}
