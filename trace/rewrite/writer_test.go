package rewrite

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A live is a source that is no file.
type live struct{ records []*etw.Record }

func (l *live) Next(r *etw.Record) error {
	if len(l.records) == 0 {
		return io.EOF
	}
	*r = *l.records[0]
	l.records = l.records[1:]
	return nil
}

var liveClock = etw.Clock{Start: etw.FileTime(133e15), Frequency: 1e7}

func (*live) Format() string     { return "live" }
func (*live) Clock() etw.Clock   { return liveClock }
func (*live) Stats() trace.Stats { return trace.Stats{Lost: 3} }
func (*live) Close() error       { return nil }

// rewritten writes all records of a trace, and reads them again.
func rewritten(t *testing.T, from *trace.Trace, o Options) (list []*etw.Record, lost int64, stats Stats) {
	t.Helper()
	defer from.Close()
	var out bytes.Buffer
	w, err := NewWriter(&out, from, o)
	if err != nil {
		t.Fatal(err)
	}
	for r := range testio.Records(t, from.Records()) {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	to, err := trace.Read("out", io.NopCloser(&out))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	for r := range testio.Records(t, to.Records()) {
		list = append(list, r.Clone())
	}
	return list, to.Stats().Lost, w.Stats()
}

// Records of a session become a .nettrace file; records for which it has no room are counted.
func TestWriterOfLive(t *testing.T) {
	event := func(pid int64) *etw.Record {
		r := recordOf(new(clr.AnyGCRestartEEEnd))
		r.ProcessID, r.Clock, r.Payload, r.Timestamp = pid, &liveClock, []byte{1, 0}, 10+pid
		return r
	}
	sample := recordOf(new(kernel.AnyPerfInfoSample))
	sample.Clock = &liveClock
	narrow := event(3)
	narrow.PointerSize = etw.Ptr32
	list, lost, stats := rewritten(t, trace.Of("session", &live{[]*etw.Record{event(1), sample, event(2), narrow}}), Options{})
	var pids []int64
	for _, r := range list {
		pids = append(pids, r.ProcessID)
		if r.ID != 3 || !bytes.Equal(r.Payload, []byte{1, 0}) {
			t.Errorf("event %d, %x", r.ID, r.Payload)
		}
	}
	if !slices.Equal(pids, []int64{1, 2}) || lost != 3 || stats != (Stats{Classic: 1, OtherPointers: 1}) {
		t.Errorf("processes %v, %d lost, %+v", pids, lost, stats)
	}
	if _, err := NewWriter(io.Discard, trace.Of("session", new(live)), Options{Compress: true}); !errors.Is(err, ErrCompress) {
		t.Errorf("compressed: %v", err)
	}
}

// Records that two files have are written once, and those that one has twice stay. A record
// that follows another in one of the files does so in the new one.
func TestWriterRepeated(t *testing.T) {
	event := func(at int64, payload string) *etw.Record {
		r := recordOf(new(clr.AnyGCStart))
		r.Timestamp, r.Payload = at, []byte(payload)
		return r
	}
	file := func(name string, records ...*etw.Record) *trace.File {
		data := testio.Encoded(t, etltest.File, etltest.DefaultHeader(), records...)
		part, err := trace.Read(name, io.NopCloser(bytes.NewReader(data)))
		if err != nil {
			t.Fatal(err)
		}
		return part.Files()[0]
	}
	start := etltest.DefaultHeader().Clock.Origin
	one := file("one", event(start+10, "a"), event(start+20, "b"), event(start+20, "b"))
	two := file("two", event(start+20, "b"), event(start+20, "c"), event(start+30, "d"))
	list, _, stats := rewritten(t, trace.Merge(one, two), Options{})
	var got []string
	for _, r := range list {
		if r.Kind == etw.KindManifest {
			got = append(got, string(r.Payload))
		}
	}
	if want := []string{"a", "b", "c", "b", "d"}; !slices.Equal(got, want) || stats.Repeated != 1 || stats.Headers != 1 {
		t.Errorf("%q, want %q; %+v", got, want, stats)
	}
}
