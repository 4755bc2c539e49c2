package system_test

import (
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A sender dispatches kernel events of files with clocks.
type sender struct {
	t   *testing.T
	mux etw.Mux
	m   *system.Machine
}

func newSender(t *testing.T) *sender {
	s := &sender{t: t}
	s.m = system.Of(&s.mux)
	return s
}

func (s *sender) send(file string, clock *etw.Clock, ticks int64, e etw.Event) {
	d := e.EventDesc()
	p, err := filled(e).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.mux.Dispatch(&etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, PointerSize: etw.Ptr64,
		File: file, Clock: clock, Timestamp: ticks, Payload: p}); err != nil {
		s.t.Fatal(err)
	}
}

// sessionTime is when the sessions of these tests start, and second a second of their
// clocks.
const (
	sessionTime = etw.FileTime(133_000_000_000_000_000)
	second      = 10_000_000
)

// TestImpossibleTimes: a damaged time is that of the record before, and counted.
func TestImpossibleTimes(t *testing.T) {
	s := newSender(t)
	clock := &etw.Clock{Start: sessionTime, Frequency: second}
	start := func(at int64, pid uint32) {
		s.send("a.etl", clock, at, &kernel.ProcessStartV4{ProcessID: pid, ImageFileName: etw.ANSI("app.exe")})
	}
	s.send("a.etl", clock, 0, &kernel.EventTraceHeaderV2{EndTime: sessionTime + 5*second})
	start(2*second, 1)
	start(20*second, 2) // late, as what is logged at the end may be
	start(1<<60, 3)
	start(-1<<60, 4)
	for pid, want := range map[int64]int64{1: 2, 2: 20, 3: 20, 4: 20} {
		if p := s.m.Process(pid); p == nil || p.Start != want*second {
			t.Errorf("process %d is %+v, which is to start at %d s", pid, p, want)
		}
	}
	if n := s.m.Unresolved().Times; n != 2 {
		t.Errorf("%d times are impossible, want 2", n)
	}
}

// Without an end nothing is known to be too late.
func TestUnendedSession(t *testing.T) {
	s := newSender(t)
	clock := &etw.Clock{Start: sessionTime, Frequency: second}
	s.send("a.etl", clock, 0, &kernel.EventTraceHeaderV2{})
	s.send("a.etl", clock, 1<<40, &kernel.ProcessStartV4{ProcessID: 1})
	if p := s.m.Process(1); p.Start != 1<<40 || s.m.Unresolved().Times != 0 {
		t.Errorf("%+v, %+v", p, s.m.Unresolved())
	}
}

// TestOrigins: files of another machine, or of another boot of the same, are told.
func TestOrigins(t *testing.T) {
	for _, test := range []struct {
		name, computer string
		booted         time.Duration
		want           string
	}{
		{"the same", "BOX", time.Second, ""},
		{"no name", "", 0, ""},
		{"another machine", "TOY", 0, "a.etl is of BOX booted on 2022-06-18 04:26:40 and b.etl of TOY booted on 2022-06-18 04:26:40"},
		{"another boot", "BOX", 48 * time.Hour, "a.etl is of BOX booted on 2022-06-18 04:26:40 and b.etl of BOX booted on 2022-06-20 04:26:40"},
	} {
		s := newSender(t)
		a, b := &etw.Clock{Start: sessionTime, Frequency: second}, &etw.Clock{Start: sessionTime + second, Frequency: second}
		s.send("a.etl", a, 0, &kernel.EventTraceHeaderV2{BootTime: sessionTime})
		s.send("a.etl", a, 1, &kernel.SystemConfigCPUV3{ComputerName: etw.MakeUTF16("BOX")})
		s.send("b.etl", b, 0, &kernel.EventTraceHeaderV2{BootTime: sessionTime + etw.FileTime(test.booted/100)})
		s.send("b.etl", b, 1, &kernel.SystemConfigCPUV3{ComputerName: etw.MakeUTF16(test.computer)})
		got := ""
		for _, text := range s.m.Origins() {
			got += text
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestOriginsMerged: one file that was made of those of two machines.
func TestOriginsMerged(t *testing.T) {
	s := newSender(t)
	clock := &etw.Clock{Start: sessionTime, Frequency: second}
	s.send("a.etl", clock, 0, &kernel.EventTraceHeaderV2{BootTime: sessionTime})
	for i, computer := range []string{"BOX", "TOY", "BOX", "TOY"} {
		s.send("a.etl", clock, int64(i), &kernel.SystemConfigCPUV3{ComputerName: etw.MakeUTF16(computer)})
	}
	want := []string{"a.etl is of BOX booted on 2022-06-18 04:26:40 and of TOY"}
	if got := s.m.Origins(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
