package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
	kernel "github.com/etwgen/etwgen/runtime/internal/universal"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// kernelStack returns a call stack as the kernel has it.
func kernelStack(list ...uint64) (b []byte) {
	for _, a := range list {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

// Numbers that no process has.
const (
	parentPID = 1<<30 + 1
	childPID  = 1<<30 + 2
)

// systemRecords are the kernel's records of a program that starts another.
func systemRecords(take func(*perfevent.Record)) {
	at := int64(1000e6)
	tell := func(r perfevent.Record) {
		at += 1e6
		if r.TID == 0 {
			r.TID = r.PID
		}
		r.Time = at
		take(&r)
	}
	run := func(pid, tid int32, stack ...uint64) {
		tell(perfevent.Record{Kind: perfevent.Sample, PID: pid, TID: tid, Stack: kernelStack(stack...)})
	}
	tell(perfevent.Record{Kind: perfevent.Comm, PID: parentPID, Exec: true, Name: "parent"})
	tell(perfevent.Record{Kind: perfevent.Map, PID: parentPID, Start: 0x10000, Length: 0x1000, Name: "/no/such/parent", BuildID: []byte{1, 2, 3, 4}})
	run(parentPID, parentPID, 0xffffffff81000010, 0x10010)
	tell(perfevent.Record{Kind: perfevent.Fork, PID: childPID, Parent: parentPID})
	run(childPID, childPID, 0x10020)
	tell(perfevent.Record{Kind: perfevent.Comm, PID: childPID, Exec: true, Name: "child"})
	tell(perfevent.Record{Kind: perfevent.Map, PID: childPID, Start: 0x20000, Length: 0x1000, Name: "/memfd:doublemapper (deleted)"})
	run(childPID, childPID, 0x20010)
	run(childPID, childPID+1, 0x20010)
	tell(perfevent.Record{Kind: perfevent.Blocked, PID: childPID, Stack: kernelStack(0xffffffff81000020, 0x20010)})
	tell(perfevent.Record{Kind: perfevent.Blocked, PID: 0, Stack: kernelStack(0xffffffff81000020)})
	tell(perfevent.Record{Kind: perfevent.Resumed, PID: childPID})
	tell(perfevent.Record{Kind: perfevent.Resumed, PID: childPID})
	tell(perfevent.Record{Kind: perfevent.Exit, PID: childPID})
}

// recorded returns a session that has read the records of the kernel, and is at its end.
func recorded(t *testing.T, more ...perfevent.Record) *Session {
	t.Helper()
	s := newSession(Config{}, 1000e6, time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
	s.phase = over
	systemRecords(s.translator.Take)
	for i := range more {
		s.translator.Take(&more[i])
	}
	s.Name(childPID, 0x20000, 0x100, "void [App] Work::Hot(int32)[OptimizedTier1]")
	s.Name(childPID, 0x30000, 0, "empty")
	kernel := filepath.Join(t.TempDir(), "kallsyms")
	testio.Write(t, kernel, []byte("ffffffff81000018 T do_wait\nffffffff81000000 T do_work\nffffffff81000000 t alias\nffffffff81000008 d data\nffffffff81000100 T next\t[module]\n"))
	if err := s.nameKernel(kernel); err != nil {
		t.Fatal(err)
	}
	return s
}

// Types of generated packages take the events, and each tells the kernel's work.
func TestSession(t *testing.T) {
	var got []string
	var mux etw.Mux
	tell := func(r *etw.Record, format string, args ...any) error {
		who := map[int64]string{parentPID: "parent", childPID: "child"}[r.ProcessID]
		got = append(got, who+" "+fmt.Sprintf(format, args...))
		return nil
	}
	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessCreate) error {
		return tell(r, "is %s in %s", e.Name, e.NamespaceName)
	})
	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessExit) error { return tell(r, "ends") })
	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessMapping) error {
		return tell(r, "maps %d: %s at %#x to %#x, file %d", e.ID, e.FileName, e.StartAddress, e.EndAddress, e.MetadataID)
	})
	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessMappingMetadata) error {
		return tell(r, "file %d is %s", e.ID, e.SymbolMetadata)
	})
	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessSymbol) error {
		return tell(r, "calls %#x to %#x %s", e.StartAddress, e.EndAddress, e.Name)
	})
	etw.Handle(&mux, func(r *etw.Record, e *events.AnyCPU) error {
		return tell(r, "runs thread +%d, %d frames", r.ThreadID-r.ProcessID, len(r.Stack.Addresses)/8)
	})
	etw.Handle(&mux, func(r *etw.Record, e *events.AnyContextSwitch) error { return tell(r, "stood for %d ns", e.Value) })
	s := recorded(t)
	if err := mux.Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"parent is parent in Unknown", `parent file 1 is {"type":"ELF","build_id":"01020304"}`, "parent maps 1: /no/such/parent at 0x10000 to 0x11000, file 1",
		"parent runs thread +0, 2 frames",
		"child is parent in Unknown", "child maps 1: /no/such/parent at 0x10000 to 0x11000, file 1", "child runs thread +0, 1 frames",
		"child is child in Unknown", "child maps 2: /memfd:doublemapper (deleted) at 0x20000 to 0x21000, file 0", "child runs thread +0, 1 frames", "child runs thread +1, 1 frames",
		"child stood for 2000000 ns", "child ends",
		"child calls 0x20000 to 0x200ff void [App] Work::Hot(int32)[OptimizedTier1]",
		"parent maps 3: vmlinux at 0xffff800000000000 to 0xffffffffffffffff, file 0",
		"parent calls 0xffffffff81000000 to 0xffffffff81000017 do_work", "parent calls 0xffffffff81000018 to 0xffffffff810000ff do_wait",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := mux.Stats(); n.Unhandled != 0 || n.Newer != 0 {
		t.Errorf("%+v", n)
	}
	if err := s.Next(new(etw.Record)); err != io.EOF {
		t.Errorf("at the End: %v", err)
	}
	if s.Stats() != (Stats{Samples: 4, Switches: 1}) || !s.Has(childPID) || s.Has(1) {
		t.Errorf("%+v", s.Stats())
	}
}

// A .nettrace file takes the records, with the losses, and the analyses read it.
func TestNettrace(t *testing.T) {
	s := recorded(t, perfevent.Record{Kind: perfevent.Lost, Count: 12})
	var out bytes.Buffer
	h := s.Header()
	w, err := nettrace.NewWriter(&out, nettrace.Header{Version: 6, Clock: h.Clock, PointerSize: h.PointerSize, ProcessID: -1, Processors: h.Processors})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range s.Records() {
		if err = errors.Join(err, w.Write(r)); err != nil {
			t.Fatal(err)
		}
	}
	w.Lost(-1, -1, s.Stats().Lost)
	testio.Close(t, w)
	r := testio.Reader(t, nettrace.NewReader, out.Bytes())
	var mux etw.Mux
	machine := system.Of(&mux)
	if err := mux.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range machine.Processes() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"parent", "child"}) || r.Stats().Lost != 12 {
		t.Errorf("%q, %d lost", names, r.Stats().Lost)
	}
}

// A sample costs no more memory than its stack, which the parser makes.
func TestTakeAllocates(t *testing.T) {
	s := recorded(t)
	r := perfevent.Record{Kind: perfevent.Sample, PID: childPID, TID: childPID, Stack: kernelStack(0xffffffff81000010, 0x20010)}
	var out etw.Record
	if n := testing.AllocsPerRun(100, func() {
		s.translator.Take(&r)
		for s.translator.Next(&out, &s.header.Clock) {
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestParseArea(t *testing.T) {
	for line, want := range map[string]kernel.Area{
		"7f00-8000 r-xp 00001000 fe:01 1234    /usr/lib/a b.so": {Start: 0x7f00, End: 0x8000, Offset: 0x1000, Path: "/usr/lib/a b.so", Device: "fe:01 1234"},
		"7f00-8000 rw-p 00000000 00:00 0       [heap]":          {Start: 0x7f00, End: 0x8000, Path: "[heap]", Device: "00:00 0"},
		"7f00-8000 rwxp 00000000 00:00 0 ":                      {Start: 0x7f00, End: 0x8000, Device: "00:00 0"},
	} {
		got, ok := parseArea(line)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%q: %v (-want +got):\n%s", line, ok, diff)
		}
	}
	for _, line := range []string{"", "x", "7f00-8000 rw-p 0 fe:01 1 /data", "8000-7f00 r-xp 0 fe:01 1 /a", "7f00 r-xp 0", "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]"} {
		if got, ok := parseArea(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestBuildID(t *testing.T) {
	note := func(name, text string, kind uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = binary.LittleEndian.AppendUint32(b, kind)
		b = append(b, name...)
		b = append(b, make([]byte, (4-len(name)%4)%4)...)
		b = append(b, text...)
		return append(b, make([]byte, (4-len(text)%4)%4)...)
	}
	notes := append(note("Go\x00", "12345", 4), note("GNU\x00", "build id", 3)...)
	if got := string(buildIDOf(notes, binary.LittleEndian)); got != "build id" {
		t.Errorf("%q", got)
	}
	for n := range notes {
		if got := buildIDOf(notes[:n:n], binary.LittleEndian); got != nil {
			t.Errorf("of %d bytes: %q", n, got)
		}
	}
	if got := buildIDOf(bytes.Repeat([]byte{0xff}, 64), binary.LittleEndian); got != nil {
		t.Errorf("%q", got)
	}
}
