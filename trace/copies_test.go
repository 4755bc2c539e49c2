package trace

import (
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// A logged is an event of a session: when, on which thread, which number, and its payload.
type logged struct {
	us      int64
	thread  uint64
	id      uint32
	payload byte
}

// session is the file of a session of a process that began at some time.
func session(t *testing.T, pid uint32, began time.Duration, events ...logged) string {
	w := nettracetest.NewWriter(4, nettracetest.Trace{
		Start: sessionStart.Add(began), Origin: 5e9 + int64(began), Pointer: etw.Ptr64, ProcessID: pid, Processors: 2,
	})
	var rows []nettracetest.Row
	var list []nettracetest.Event
	for _, e := range events {
		if !slices.ContainsFunc(rows, func(r nettracetest.Row) bool { return r.ID == e.id }) {
			rows = append(rows, nettracetest.Row{ID: e.id, Provider: "Test", EventID: e.id})
		}
		list = append(list, nettracetest.Event{Metadata: e.id, Time: 5e9 + e.us*1000, Thread: e.thread, Payload: []byte{e.payload}, SortPoint: true})
	}
	w.Metadata(rows...)
	w.Events(list...)
	w.End()
	return write(t, "s", w.Bytes())
}

// TestCopies reads sessions of one process together: an event of several counts once, whoever
// wrote it first and whatever one of them lost or did not record.
func TestCopies(t *testing.T) {
	first := session(t, 7, 0,
		logged{100, 1, 1, 5},  // before the second began
		logged{2000, 1, 1, 5}, // both
		logged{3000, 1, 1, 5}, // both, of which the second was first
		logged{3500, 1, 2, 5}, // a kind of the first alone
		logged{4000, 1, 1, 5}, // both
		logged{4000, 2, 1, 5}, // another thread, which the second lost
		logged{5000, 1, 1, 5}, // the second lost it
		logged{6000, 1, 1, 6}) // and here began another
	second := session(t, 7, time.Millisecond,
		logged{2001, 1, 1, 5},
		logged{2999, 1, 1, 5},
		logged{3501, 1, 3, 5}, // a kind of the second alone
		logged{4001, 1, 1, 5},
		logged{6001, 1, 1, 7},
		logged{7000, 1, 1, 7})
	later := session(t, 7, 8*time.Millisecond, logged{8100, 1, 1, 7})
	rest := session(t, 7, 0, logged{6100, 1, 1, 6}) // of the first session
	other := session(t, 8, time.Millisecond, logged{2001, 1, 1, 5}, logged{2999, 1, 1, 5})
	third := session(t, 7, 1500*time.Microsecond, logged{2002, 1, 1, 5}, logged{3001, 1, 1, 5}, logged{6000, 1, 1, 6})
	for _, test := range []struct {
		name           string
		paths          []string
		events, copies int64
	}{
		{"one", []string{first}, 8, 0},
		{"two", []string{first, second}, 11, 3},
		{"two, the other way", []string{second, first}, 11, 3},
		{"three", []string{first, second, third}, 11, 6},
		{"one after the other", []string{second, later}, 7, 0},
		{"parts of one", []string{first, rest}, 9, 0},
		{"two processes", []string{first, other}, 10, 0},
	} {
		tr := testio.Open(t, OpenAll, test.paths)
		n, byTime := int64(0), time.Duration(0)
		for r, err := range tr.Records() {
			if err != nil {
				t.Fatal(test.name, err)
			}
			if at := tr.Elapsed(r); at < byTime {
				t.Errorf("%s: %v after %v", test.name, at, byTime)
			} else {
				byTime = at
			}
			if r.File != tr.File().Name() {
				t.Errorf("%s: of %s, not %s", test.name, r.File, tr.File().Name())
			}
			n++
		}
		if n != test.events || tr.Copies() != test.copies || tr.Stats().Records != n {
			t.Errorf("%s: %d events and %d copies, want %d and %d; %+v", test.name, n, tr.Copies(), test.events, test.copies, tr.Stats())
		}
	}
}
