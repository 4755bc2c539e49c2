package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, []string{"../../tests/recorded/gc.nettrace"}); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^( +\d+\.\d{3} ms  paused +\d+\.\d{3} ms  collection \d of generation \d, \w+\n){5}5 pauses\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("not as %s:\n%s", want, out.String())
	}
}

// TestOverlap has a second thread that asks for a suspension while the first one
// collects, and gets its turn after it.
func TestOverlap(t *testing.T) {
	const collector, other = 1, 2
	suspend := func(reason clr.GCSuspendEEReason) etw.Event { return &clr.GCSuspendEEBeginV1{Reason: reason} }
	path := record(t,
		logged{100, collector, suspend(clr.GCSuspendEEReasonSuspendForGC)},
		logged{200, other, suspend(clr.GCSuspendEEReasonSuspendOther)},
		logged{300, collector, &clr.GCStartV2{Count: 7, Depth: 1}},
		logged{1100, collector, &clr.GCRestartEEEndV1{}},
		logged{1200, other, &clr.GCRestartEEEndV1{}},
		logged{1300, collector, suspend(clr.GCSuspendEEReasonSuspendForGCPrep)},
		logged{1400, collector, &clr.GCRestartEEEndV1{}},
	)
	var out strings.Builder
	if err := run(&out, []string{path}); err != nil {
		t.Fatal(err)
	}
	want := "       0.100 ms  paused    1.000 ms  collection 7 of generation 1, AllocSmall\n" +
		"       1.300 ms  paused    0.100 ms  SuspendForGCPrep\n" +
		"2 pauses\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestUndecodable(t *testing.T) {
	var fault *etw.DecodeError
	path := record(t, logged{100, 1, short{new(clr.GCStartV2)}})
	if err := run(new(strings.Builder), []string{path}); !errors.As(err, &fault) {
		t.Errorf("error %v, want a *DecodeError", err)
	}
}

// A logged event is one of a trace, with a time in microseconds.
type logged struct {
	at     int64
	thread uint64
	event  etw.Event
}

// A short event is encoded without its last byte.
type short struct{ etw.Event }

func (e short) AppendPayload(b []byte, ptr etw.PtrSize) ([]byte, error) {
	b, err := e.Event.AppendPayload(b, ptr)
	return b[:len(b)-1], err
}

// record writes a .nettrace file.
func record(t *testing.T, events ...logged) string {
	t.Helper()
	w := nettracetest.NewWriter(4, nettracetest.Trace{Frequency: 1e6, Pointer: etw.Ptr64})
	for i, e := range events {
		d := e.event.EventDesc()
		w.Metadata(nettracetest.Row{
			ID: uint32(i + 1), Provider: d.Provider.Name, EventID: uint32(d.ID), Version: uint32(d.Version),
			Keywords: d.Keywords, Level: uint32(d.Level),
		})
		payload, err := e.event.AppendPayload(nil, etw.Ptr64)
		if err != nil {
			t.Fatal(err)
		}
		w.Events(nettracetest.Event{Metadata: uint32(i + 1), Time: e.at, Thread: e.thread, SortPoint: true, Payload: payload})
	}
	w.End()
	path := filepath.Join(t.TempDir(), "test.nettrace")
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
