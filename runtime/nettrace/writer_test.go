package nettrace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestCopy copies real traces record by record: the copy has the same records in the same
// order, and the same losses.
func TestCopy(t *testing.T) { testCopy(t, recorded(t)) }

func TestCopyCorpus(t *testing.T) { testCopy(t, corpus.Share(corpus.Some(t, allCorpusFiles(t)), 20)) }

// allCorpusFiles returns the traces of all versions.
func allCorpusFiles(t *testing.T) []string {
	files := corpusFiles(t)
	for _, pattern := range []string{"*.nettrace", "*.netperf", "*.nettrace.gz"} {
		files = append(files, corpus.Glob(t, "dotnet10", pattern)...)
	}
	return append(files, corpus.Glob(t, "universal", "*.nettrace")...)
}

func testCopy(t *testing.T, files []string) {
	same := 0
	for _, file := range files {
		data := testio.Unpacked(t, file)
		for _, version := range []int{0, 6} {
			out, err := copied(data, version)
			if err == nil {
				err = checkStream(out.Bytes())
			}
			if err == nil {
				err = sameStreams(data, out.Bytes())
			}
			if err != nil {
				t.Errorf("%s as version %d: %v", filepath.Base(file), version, err)
				continue
			}
			same++
		}
	}
	t.Logf("%d of %d copies have the same records", same, 2*len(files))
}

// copied copies a stream to one of a version, or of that which it has.
func copied(data []byte, version int) (*bytes.Buffer, error) {
	r, err := nettrace.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	h := r.Header()
	if h.Version = version; version == 0 {
		h.Version = max(r.Header().Version, 4)
	}
	var out bytes.Buffer
	w, err := nettrace.NewWriter(&out, h)
	if err != nil {
		return nil, err
	}
	var rec etw.Record
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
		if err := w.Copy(r, &rec); err != nil {
			return nil, err
		}
	}
	if err != io.EOF && !errors.Is(err, etw.ErrIncomplete) {
		return nil, err
	}
	for thread, n := range r.Stats().LostByThread {
		w.Lost(-1, int64(thread), n)
	}
	return &out, w.Close()
}

// sameStreams reads two streams and returns the differences of their records.
func sameStreams(a, b []byte) error {
	first, err := nettrace.NewReader(bytes.NewReader(a))
	if err != nil {
		return err
	}
	second, err := nettrace.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	var want, got describer
	for n := 0; ; n++ {
		var x, y etw.Record
		errX, errY := first.Next(&x), second.Next(&y)
		switch {
		case errY != nil && errY != io.EOF:
			return fmt.Errorf("record %d of the copy: %w", n, errY)
		case (errX == nil) != (errY == nil):
			return fmt.Errorf("record %d: %v, of the copy %v", n, errX, errY)
		case errX != nil:
			if lost := second.Stats().Lost; lost != first.Stats().Lost {
				return fmt.Errorf("%d are lost, want %d", lost, first.Stats().Lost)
			}
			return nil
		}
		if w, g := want.describe(&x), got.describe(&y); w != g {
			return fmt.Errorf("record %d: got\n%s\nwant\n%s", n, g, w)
		}
	}
}

// A describer says all that is in records.
type describer struct{ schemas map[*etw.EventDesc]string }

func (d *describer) describe(r *etw.Record) string {
	if d.schemas == nil {
		d.schemas = make(map[*etw.EventDesc]string)
	}
	schema, ok := d.schemas[r.Schema]
	if !ok {
		text, err := json.Marshal(r.Schema)
		if err != nil {
			panic(err)
		}
		schema = string(text)
		d.schemas[r.Schema] = schema
	}
	var b strings.Builder
	fmt.Fprint(&b, r.Time(), " ", r.Timestamp, " ", r.Key(), " ", r.ProviderName, " ", r.Level, r.Opcode, r.Channel, r.Task, " ", r.Keywords, " ", r.PointerSize, " ", r.Processor, " ", r.ProcessID, r.ThreadID)
	b.Write(r.ActivityID[:])
	b.Write(r.RelatedActivityID[:])
	b.WriteString("payload")
	b.Write(r.Payload)
	b.WriteString("stack")
	b.Write(r.Stack.Addresses)
	for _, item := range r.Extended {
		fmt.Fprint(&b, item.Type, " ", item.Data)
	}
	b.WriteString(schema)
	return b.String()
}

// TestWrite writes records as programs do, and reads back all that a version can hold.
func TestWrite(t *testing.T) {
	provider := &etw.ProviderDesc{Name: "Some-Provider", GUID: nettrace.ProviderGUID("Some-Provider")}
	schema := &etw.EventDesc{Provider: provider, ID: 7, Version: 1, Level: 4, Keywords: 9, Name: "Something", Named: true, TaskName: "Something", Fields: []etw.FieldDesc{
		{Name: "Count", Type: etw.InUInt32}, {Name: "Name", Type: etw.InUnicodeString},
		{Name: "Numbers", Type: etw.InUInt64, Count: etw.Size{Kind: etw.SizePrefix}},
	}}
	clock := etw.Clock{Start: etw.FileTimeOf(time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)), Origin: 1000, Frequency: 1e9}
	record := func(thread int64, at int64) *etw.Record {
		return &etw.Record{
			Provider: provider.GUID, ProviderName: provider.Name, ID: 7, Version: 1, Level: 4, Keywords: 9, Schema: schema, PointerSize: etw.Ptr64,
			ProcessID: 50, ThreadID: thread, Processor: 3, Timestamp: at, Clock: &clock,
			ActivityID: etw.GUID{1}, RelatedActivityID: etw.GUID{2}, Payload: []byte("12345678"),
			Stack: etw.Stack{Addresses: []byte("addressaddress.."), PtrSize: etw.Ptr64},
		}
	}
	for _, version := range []int{4, 6} {
		var out bytes.Buffer
		w, err := nettrace.NewWriter(&out, nettrace.Header{Version: version, Clock: clock, ProcessID: 50, Processors: 4})
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		var d describer
		for i := range int64(5) {
			r := record(60+i%2, 2000+i)
			if version == 6 && i == 3 {
				r.ProcessID, r.Opcode, r.Level = 51, 11, 2
				r.Extended = []etw.ExtendedItem{{Type: nettrace.ExtTraceID, Data: []byte("0123456789abcdef")}, {Type: nettrace.ExtSpanID, Data: []byte("spanspan")}}
			}
			want = append(want, d.describe(r))
			w.Lost(r.ProcessID, r.ThreadID, i)
			testio.Add(t, w, r)
			if i == 2 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		testio.Close(t, w)
		if err := w.Write(record(1, 1)); err == nil || w.Flush() != nil || w.Close() != nil {
			t.Error("a closed Writer writes")
		}
		if err := checkStream(out.Bytes()); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
		r := testio.Reader(t, nettrace.NewReader, out.Bytes())
		for rec := range testio.Records(t, r.Records()) {
			rec.Timestamp = rec.Timestamp - r.Header().Clock.Origin + clock.Origin - 900_000
			got = append(got, strings.Replace(d.describe(rec), `"Opcode":11`, `"Opcode":0`, 1))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("version %d: (-want +got)\n%s", version, diff)
		}
		if s := r.Stats(); s.Lost != 10 || !s.Stopped {
			t.Errorf("version %d: %d lost, want 10; stopped %v", version, s.Lost, s.Stopped)
		}
	}
}

// TestUnsorted writes the events of several threads, each in its own order.
func TestUnsorted(t *testing.T) {
	var out bytes.Buffer
	w, err := nettrace.NewWriter(&out, nettrace.Header{ProcessID: 1, Clock: etw.Clock{Start: etw.FileTimeOf(time.Now())}}, nettrace.WithoutOrder())
	if err != nil {
		t.Fatal(err)
	}
	for part := range int64(3) {
		for thread := range int64(4) {
			for i := range int64(2000) {
				at := part*100_000 + i*10 + thread
				rec := etw.Record{ProviderName: "P", Provider: nettrace.ProviderGUID("P"), ProcessID: 1, ThreadID: thread, Timestamp: at, Payload: make([]byte, 50)}
				testio.Add(t, w, &rec)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	if err := check(out.Bytes(), true); err != nil {
		t.Error(err)
	}
	r := testio.Reader(t, nettrace.NewReader, out.Bytes())
	for range testio.Records(t, r.Records()) {
	}
	if s := r.Stats(); s.OutOfOrder != 0 || s.Records != 24000 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// TestWriterRefuses tries records for which a stream has no room.
func TestWriterRefuses(t *testing.T) {
	if _, err := nettrace.NewWriter(io.Discard, nettrace.Header{Version: 5}); err == nil {
		t.Error("version 5")
	}
	if _, err := nettrace.NewWriter(io.Discard, nettrace.Header{Version: 4, ProcessID: -1}); err == nil {
		t.Error("version 4 of no process")
	}
	w, err := nettrace.NewWriter(io.Discard, nettrace.Header{ProcessID: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rec  etw.Record
		want error
	}{
		{etw.Record{Kind: etw.KindClassic}, nettrace.ErrKind},
		{etw.Record{ProviderName: "P", ProcessID: 6}, nettrace.ErrProcess},
		{etw.Record{ProviderName: "P", ProcessID: 5, PointerSize: etw.Ptr32}, nettrace.ErrPointerSize},
		{etw.Record{ProcessID: 5}, nettrace.ErrNoProvider},
		{etw.Record{ProviderName: "P", Provider: etw.GUID{1}, ProcessID: 5}, nettrace.ErrNoProvider},
		{etw.Record{ProviderName: "P", Provider: etw.GUID{1}, ProcessID: 5, Schema: &etw.EventDesc{Name: "E"}}, nil},
	} {
		if err := w.Write(&c.rec); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c.rec.Key(), err)
		}
	}
	if err := w.Write(&etw.Record{ProviderName: "P", Provider: nettrace.ProviderGUID("P"), ProcessID: 5, Payload: make([]byte, 16<<20)}); err == nil {
		t.Error("a payload of 16 MiB")
	}
}
