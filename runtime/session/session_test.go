package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// begin starts a session.
func begin(t testing.TB, cfg Config) *Session {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// drain reads up to the end and returns the numbers of the events.
func drain(t testing.TB, s *Session) (numbers []int) {
	t.Helper()
	for r := range testio.Records(t, s.Records()) {
		numbers = append(numbers, numberOf(r))
	}
	return numbers
}

func count(from, to int) (list []int) {
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

// TestStart: settings reach Windows.
func TestStart(t *testing.T) {
	f := install(t)
	s := begin(t, Config{
		Name: "Mine", Providers: []Provider{{Name: "P", GUID: testProvider, Enablement: Enablement{
			Level: 4, Keywords: 0x11, AllKeywords: 0x10, Properties: PropertyStack | PropertySID, CaptureState: true,
			Filters: Filters{PIDs: []uint32{1, 2}, IDs: &IDFilter{IDs: []uint16{7}, Except: true}, Arguments: map[string]string{"b": "2", "a": "1"}}}}},
		KernelFlags: 0x3, KernelGroups: [8]uint32{0, 4}, Stacks: []etw.Key{{Kind: etw.KindClassic, Provider: testProvider, ID: 32}}, SampleInterval: time.Millisecond,
		Buffers: Buffers{KB: 128, Min: 10}, FlushTimer: 2 * time.Second,
	})
	got := f.session("mine")
	p := &got.p
	if p.bufferSize != 128 || p.minimumBuffers != 10 || p.maximumBuffers != 12 || p.flushTimer != 2 || p.enableFlags != 3 || p.wnode.clientContext != 1 {
		t.Errorf("properties %+v", s.info)
	}
	if want := etl.ModeRealTime | etl.ModeSystemLogger; etl.LogFileMode(p.logFileMode) != want {
		t.Errorf("mode %v, want %v", etl.LogFileMode(p.logFileMode), want)
	}
	want := []fakeEnabled{
		{provider: testProvider, control: enableEnable, level: 4, any: 0x11, all: 0x10, property: PropertyStack | PropertySID, filters: []encodedFilter{
			{filterPID, []byte{1, 0, 0, 0, 2, 0, 0, 0}},
			{filterEventID, []byte{0, 0, 1, 0, 7, 0}},
			{filterSchematized, []byte("a\x001\x00b\x002\x00")},
		}},
		{provider: testProvider, control: enableCaptureState},
	}
	if diff := cmp.Diff(want, got.enabled, cmp.AllowUnexported(fakeEnabled{}, encodedFilter{})); diff != "" {
		t.Error(diff)
	}
	if got.groups != [8]uint32{0, 4} || len(got.stacks) != 1 || got.stacks[0].opcode != 32 || !slices.Equal(f.intervals, []uint32{10000}) {
		t.Errorf("groups %v, stacks %v, intervals %v", got.groups, got.stacks, f.intervals)
	}
	if !slices.Contains(f.privileges, profilePrivilege) {
		t.Error("the privilege for samples was not enabled")
	}
}

// TestForMux: a mux starts the providers that its handlers need.
func TestForMux(t *testing.T) {
	f := install(t)
	var mux etw.Mux
	etw.Handle(&mux, func(*etw.Record, *clr.AnyGCStart) error { return nil })
	etw.Handle(&mux, func(*etw.Record, *kernel.AnyProcessStart) error { return nil })
	etw.Handle(&mux, func(*etw.Record, *kernel.AnyImageLoad) error { return nil })
	begin(t, Config{Name: "mux", Providers: ForMux(&mux)})
	got := f.session("mux")
	want := []fakeEnabled{{provider: clr.Provider.Desc.GUID, control: enableEnable, level: 4, any: uint64(clr.KeywordGC)}}
	if diff := cmp.Diff(want, got.enabled, cmp.AllowUnexported(fakeEnabled{}, encodedFilter{})); diff != "" {
		t.Error(diff)
	}
	if flags := kernel.FlagProcess | kernel.FlagImageLoad; kernel.Flags(got.p.enableFlags) != flags {
		t.Errorf("flags %#x, want %#x", got.p.enableFlags, flags)
	}
}

// TestEvents: events delivered one by one arrive whole, though its memory is used again.
func TestEvents(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "events", Consumption: Consumption{WithoutSchemas: true}})
	want := []*etw.Record{
		{Provider: testProvider, ID: 7, Version: 2, Channel: 11, Level: 4, Opcode: 3, Task: 9, Keywords: 0x8000000000000001,
			PointerSize: etw.Ptr32, Processor: 300, ProcessID: 1, ThreadID: -1, Timestamp: 10,
			ActivityID: etw.GUID{1}, RelatedActivityID: etw.GUID{2}, Payload: []byte("payload"),
			Stack:    etw.Stack{Addresses: []byte{1, 2, 3, 4, 5, 6, 7, 8}, PtrSize: etw.Ptr64},
			Extended: []etw.ExtendedItem{{Type: etw.ExtSID, Data: []byte{1, 1, 0}}, {Type: etw.ExtEventKey, Data: []byte{}}}},
		{Kind: etw.KindClassic, Provider: testProvider, Version: 1, Opcode: 5, PointerSize: etw.Ptr64, ProcessID: -1, ThreadID: 2, Timestamp: 20, Payload: []byte{}},
		{Kind: etw.KindMessage, Provider: testProvider, ID: 9, PointerSize: etw.Ptr64, ProcessID: 3, ThreadID: 4, Timestamp: 30, Payload: make([]byte, 60000)},
	}
	go func() {
		for _, r := range want {
			f.session("events").items <- fakeItem{event: newEvent(r)}
		}
		s.Stop(context.Background())
	}()
	var got []*etw.Record
	for r := range testio.Records(t, s.Records()) {
		c := r.Clone()
		c.Clock, c.Payload = nil, append([]byte{}, c.Payload...)
		for i := range c.Extended {
			c.Extended[i].Data = append([]byte{}, c.Extended[i].Data...)
		}
		got = append(got, c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestClock: time stamps are those of the clock, which the system says where it stands.
func TestClock(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "clock"})
	c := s.Header().Clock
	if at := c.FileTime(51e7); at != etw.FileTime(f.header.startTime)+50e7 {
		t.Errorf("the time now is %v", at)
	}
	if c.Origin != 1e7 || c.Elapsed(2e7) != time.Second {
		t.Errorf("clock %+v", c)
	}
}

// TestConfig: an impossible value is an error that says so, before Windows is asked.
func TestConfig(t *testing.T) {
	install(t)
	for want, cfg := range map[string]Config{
		"buffers of 1 KB":              {Buffers: Buffers{KB: 1}},
		"12 to 3 buffers":              {Buffers: Buffers{Min: 12, Max: 3}},
		"take more than":               {Buffers: Buffers{Max: 1 << 20}},
		"a flush timer of 1.5s":        {FlushTimer: 1500 * time.Millisecond},
		"it has no GUID":               {Providers: []Provider{{Name: "x"}}},
		"9 processes to filter by":     {Providers: []Provider{{GUID: testProvider, Enablement: Enablement{Filters: Filters{PIDs: make([]uint32, 9)}}}}},
		"a filter of 0 ids":            {Providers: []Provider{{GUID: testProvider, Enablement: Enablement{Filters: Filters{IDs: &IDFilter{}}}}}},
		"a filter of 2000 bytes":       {Providers: []Provider{{GUID: testProvider, Enablement: Enablement{Filters: Filters{Schematized: make([]byte, 2000)}}}}},
		"it is one of these":           {File: &File{Path: "x", Mode: etl.ModeCircular | etl.ModeSequential, MaxMB: 1}},
		"a circular file takes a size": {File: &File{Path: "x", Mode: etl.ModeCircular}},
		"has no %d":                    {File: &File{Path: "x", Mode: etl.ModeNewFile, MaxMB: 1}},
		"more than 1024 characters":    {Name: strings.Repeat("x", 1025)},
		"is for kernel events":         {Name: KernelLoggerName},
		"samples every 1ns":            {SampleInterval: 1},
	} {
		_, err := Start(t.Context(), cfg)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestErrors: codes of Windows become errors with advice, and nothing is left of a start
// that has failed.
func TestErrors(t *testing.T) {
	f := install(t)
	for _, e := range []struct {
		op   string
		code Code
		is   error
		text string
	}{
		{opStart, codeAccessDenied, fs.ErrPermission, "run as administrator"},
		{opStart, codeNoSystemResources, codeNoSystemResources, "64"},
		{opEnable, codeNoSystemResources, codeNoSystemResources, "eight sessions"},
		{opOpen, codeAccessDenied, fs.ErrPermission, "Performance Log Users"},
		{opSet, codeInvalidOperation, errors.ErrUnsupported, "newer Windows"},
		{opStart, 4711, Code(4711), "error 4711"},
	} {
		f.codes = map[string]Code{e.op: e.code}
		_, err := Start(t.Context(), Config{Name: "fails", KernelFlags: 1, Stacks: []etw.Key{{}}, Providers: []Provider{{GUID: testProvider}}})
		if !errors.Is(err, e.is) || !strings.Contains(err.Error(), e.text) {
			t.Errorf("%s %d: %v", e.op, e.code, err)
		}
		if f.session("fails") != nil || len(f.opened) > 0 {
			t.Errorf("%s %d: something is left", e.op, e.code)
		}
	}
}

// TestExists: a session of the same name is stopped only if that is asked for.
func TestExists(t *testing.T) {
	f := install(t)
	old := f.add("Twice")
	if _, err := Start(t.Context(), Config{Name: "twice"}); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	begin(t, Config{Name: "twice", Replace: true})
	if now := f.session("twice"); now == old || now == nil {
		t.Error("the old session was not replaced")
	}
}

// TestOrphans: only sessions with our prefix, of a process that has ended, are orphans.
func TestOrphans(t *testing.T) {
	f := install(t)
	f.running = map[int]bool{30: true}
	for _, name := range []string{"etwgen-a-20", "Etwgen-b-c-21", "etwgen-a-30", "etwgen-x", "etwgen-y-0", "other-20", "etwgen", DefaultName()} {
		f.add(name)
	}
	if _, err := Orphans("e-"); !errors.Is(err, ErrConfig) {
		t.Errorf("a short prefix: %v", err)
	}
	stopped, err := StopOrphans(Prefix)
	var names []string
	for _, i := range stopped {
		names = append(names, i.Name)
	}
	if slices.Sort(names); err != nil || !slices.Equal(names, []string{"Etwgen-b-c-21", "etwgen-a-20"}) {
		t.Errorf("%v, %v", names, err)
	}
	if left, err := List(); err != nil || len(left) != 6 {
		t.Errorf("%d sessions are left, %v", len(left), err)
	}
}

// TestUpdate changes a session and asks for it.
func TestUpdate(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "up", File: &File{Path: `C:\a.etl`}})
	flags := uint32(7)
	if err := s.Update(Update{MaxBuffers: 99, FlushTimer: 3 * time.Second, File: `C:\b.etl`, KernelFlags: &flags}); err != nil {
		t.Fatal(err)
	}
	i, err := s.Query()
	if err != nil || i.MaxBuffers != 99 || i.FlushTimer != 3*time.Second || i.File != `C:\b.etl` || i.KernelFlags != 7 || i.Name != "up" {
		t.Errorf("%+v, %v", i, err)
	}
	if err := s.Flush(); err != nil {
		t.Error(err)
	}
	if err := s.Next(new(etw.Record)); err != io.EOF {
		t.Errorf("a session that writes a file delivers: %v", err)
	}
	if err := s.Stop(t.Context()); err != nil || f.session("up") != nil {
		t.Error(err)
	}
	if _, err := s.Query(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestElsewhere: without Windows there are errors that say so.
func TestElsewhere(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("this is Windows")
	}
	_, start := Start(t.Context(), Config{})
	_, attach := Attach(t.Context(), "x", Consumption{})
	_, list := List()
	_, stop := Stop("x")
	_, orphans := Orphans(Prefix)
	for _, err := range []error{start, attach, list, stop, orphans, SetSampleInterval(time.Millisecond)} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}
