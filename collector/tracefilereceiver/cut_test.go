package tracefilereceiver

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// packed returns a gzip of something.
func packed(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	testio.Close(t, z)
	return out.Bytes()
}

// session returns the file of a session that runs, whose two processors fill their
// buffers at different paces: it is not in the order of time.
func session(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	clock := etw.Clock{Start: etw.FileTimeOf(time.Now()), Frequency: 1e9}
	w, err := etl.NewWriter(&out, etl.Header{Clock: clock, SessionName: "grows", Processors: 2, BufferSize: 1 << 10})
	for i := 0; i < 500 && err == nil; i++ {
		processor := int32(0)
		if i%7 == 0 {
			processor = 1
		}
		err = w.Write(&etw.Record{Provider: etw.GUID{1}, ID: uint16(i), Processor: processor, ProcessID: 1, ThreadID: 2, Clock: &clock, Timestamp: int64(i+1) * 1000, Payload: []byte{1, 2, 3}})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestCut reads traces that lack their ends, and grow from one start of the receiver to
// the next: whatever comes later in the order of time, all is sent once.
func TestCut(t *testing.T) {
	whole := testio.Read(t, filepath.Join(recorded, "threads.nettrace"))
	for _, c := range []struct {
		name  string
		whole []byte
		pack  func(b []byte) []byte
		least int // tenths that a trace must have
	}{
		{"a.nettrace", whole, func(b []byte) []byte { return b }, 2},
		{"packed.nettrace.gz", whole, func(b []byte) []byte { return packed(t, b) }, 2},
		{"session.etl", session(t), func(b []byte) []byte { return b }, 1},
		{"session.etl.gz", session(t), func(b []byte) []byte { return packed(t, b) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, keep, s := t.TempDir(), &memory{}, &sink{}
			s.fields = func(r plog.LogRecord) { s.at(r) }
			for tenth := c.least; tenth <= 10; tenth++ {
				write(t, filepath.Join(dir, c.name), c.pack(c.whole[:len(c.whole)*tenth/10]))
				all(t, config(dir), keep, s)
			}
			alone := &sink{}
			alone.fields = func(r plog.LogRecord) { alone.at(r) }
			other := t.TempDir()
			write(t, filepath.Join(other, c.name), c.pack(c.whole))
			all(t, config(other), &memory{}, alone)
			if alone.count == 0 || s.count != alone.count || !maps.Equal(s.times, alone.times) {
				t.Errorf("%d log records are sent of a file that grows, %d of the whole one", s.count, alone.count)
			}
		})
	}
}

// TestPart packs a trace while the receiver looks: the part of the packed file that is there
// is read, and then the rest.
func TestPart(t *testing.T) {
	whole := testio.Read(t, filepath.Join(recorded, "jit.nettrace"))
	dir, keep, s := t.TempDir(), &memory{}, &sink{}
	b := packed(t, whole)
	for _, n := range []int{len(b) / 2, len(b) * 3 / 4, len(b)} {
		write(t, filepath.Join(dir, "a.nettrace.gz"), b[:n])
		all(t, config(dir), keep, s)
	}
	if want := events(t, filepath.Join(recorded, "jit.nettrace")); s.count != want {
		t.Errorf("%d log records, want %d", s.count, want)
	}
}

// TestUnmatched has patterns of events of which one matches nothing: it is said, once.
func TestUnmatched(t *testing.T) {
	dir := t.TempDir()
	copyOf(t, filepath.Join(recorded, "gc.nettrace"), filepath.Join(dir, "a.nettrace"))
	cfg := config(dir)
	cfg.Events.Include, cfg.Events.Exclude = []string{"GC/Start", "GC/Strat"}, []string{"GC/Stop", "Nothing*"}
	said := heard(t, cfg, &sink{})
	var texts []string
	for _, e := range said.FilterMessageSnippet("matched nothing").All() {
		texts = append(texts, fmt.Sprint(e.ContextMap()["pattern"]))
	}
	if fmt.Sprint(texts) != "[GC/Strat Nothing*]" {
		t.Errorf("said of %v", texts)
	}
}
