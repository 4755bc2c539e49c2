package pick

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
	"github.com/etwgen/etwgen/trace"
)

// TestRecorded: of recordings of one process each moment counts once, from the start of a session on, or from
// the first record of a file that goes on with another; of several processes nothing is said.
func TestRecorded(t *testing.T) {
	const second = int64(time.Second)
	start, dir, n := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC), t.TempDir(), 0
	// file writes a recording that starts some seconds late, with records at seconds since its start.
	file := func(pid uint32, late int, continued bool, at ...int64) string {
		w := nettracetest.NewWriter(4, nettracetest.Trace{Start: start.Add(time.Duration(late) * time.Second), Pointer: etw.Ptr64, ProcessID: pid})
		w.Metadata(nettracetest.Row{ID: 1, Provider: "A", EventID: 1})
		if continued {
			w.SequencePoint(0, 0, map[uint64]uint32{1: 1})
		}
		for _, s := range at {
			w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: s * second})
		}
		w.End()
		n++
		name := filepath.Join(dir, string(rune('a'+n))+".nettrace")
		if err := os.WriteFile(name, w.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	recorded := func(h *filter.Header, names ...string) (time.Duration, bool) {
		tr, err := trace.OpenAll(names)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		var s TimeSpan
		for r, err := range etw.Records(tr) {
			if err != nil {
				t.Fatal(err)
			}
			s.See(r, tr.Elapsed(r), h, nil)
		}
		return s.Recorded(h, tr)
	}
	all := new(filter.Header)
	one, late, ring, other := file(7, 0, false, 1, 4), file(7, 2, false, 1, 4), file(7, 0, true, 9, 12), file(8, 0, false, 5)
	for _, x := range []struct {
		files []string
		want  int
	}{{[]string{one}, 4}, {[]string{late}, 4}, {[]string{one, late}, 6}, {[]string{ring}, 3}, {[]string{one, ring}, 7}} {
		if got, ok := recorded(all, x.files...); got != time.Duration(x.want)*time.Second || !ok {
			t.Errorf("%d files: %v, %v, want %d s", len(x.files), got, ok, x.want)
		}
	}
	if _, ok := recorded(all, one, other); ok {
		t.Error("two processes")
	}
	window := &filter.Header{From: &filter.Moment{Elapsed: 3 * time.Second}, To: &filter.Moment{Elapsed: 10 * time.Second}}
	if got, _ := recorded(window, one, ring); got != 2*time.Second {
		t.Errorf("in a window: %v, want 2 s", got)
	}
}
