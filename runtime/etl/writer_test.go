package etl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestCopyCorpus copies real traces record by record: the copy has the same records in the
// same order. The first one, the header of the log file, tells of the file itself, of which
// the copy has fewer or more buffers.
func TestCopyCorpus(t *testing.T) {
	same, files := 0, corpus.Some(t, corpus.Glob(t, "etl", "*.etl"))
	for _, path := range files {
		data := testio.Read(t, path)
		for _, c := range []etl.Compression{etl.CompressionNone, etl.CompressionXpress} {
			out, err := copied(data, c)
			if err == nil {
				err = checkFile(out)
			}
			if err == nil {
				err = sameFiles(data, out)
			}
			if err != nil {
				t.Errorf("%s, %v: %v", filepath.Base(path), c, err)
				continue
			}
			same++
		}
	}
	t.Logf("%d of %d copies have the same records", same, 2*len(files))
}

// A file in memory, whose beginning can be written again.
type fileInMemory struct{ bytes.Buffer }

func (m *fileInMemory) WriteAt(p []byte, at int64) (int, error) { return copy(m.Bytes()[at:], p), nil }

// copied copies a file.
func copied(data []byte, c etl.Compression) ([]byte, error) {
	r, err := etl.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	h := r.Header()
	h.Compression = c
	var out fileInMemory
	w, err := etl.NewWriter(&out, h)
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
	err = w.Close()
	return out.Bytes(), err
}

// sameFiles reads two files and returns the differences of their records.
func sameFiles(a, b []byte) error {
	first, err := etl.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		return err
	}
	second, err := etl.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		var x, y etw.Record
		errX, errY := first.Next(&x), second.Next(&y)
		switch {
		case errY != nil && errY != io.EOF:
			return fmt.Errorf("record %d of the copy: %w", n, errY)
		case (errX == nil) != (errY == nil):
			return fmt.Errorf("record %d: %v, of the copy %v", n, errX, errY)
		case errX != nil:
			return nil
		}
		if n == 0 { // what the header of a file says of the number and size of buffers
			x.Payload, y.Payload = x.Payload[4:4], y.Payload[4:4]
		}
		if w, g := describe(&x), describe(&y); w != g {
			return fmt.Errorf("record %d: got\n%s\nwant\n%s", n, g, w)
		}
	}
}

// describe says all that is in a record.
func describe(r *etw.Record) string {
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
	if r.Schema != nil {
		fmt.Fprint(&b, r.Schema.Name, r.Schema.TaskName, r.Schema.OpcodeName, len(r.Schema.Fields))
	}
	return b.String()
}

// TestCopyForms copies a record of each form, with other payloads, and to another
// clock.
func TestCopyForms(t *testing.T) {
	for form, want := range formRecords(etw.Ptr32) {
		h := etltest.DefaultHeader()
		var in bytes.Buffer
		w := testio.Writer(t, etltest.NewWriter, &in, h)
		if err := errors.Join(w.WriteAs(form, want), w.Close()); err != nil {
			t.Fatal(err)
		}
		later := h
		later.Clock.Start += 100
		later.Clock.Origin += 5000
		var out fileInMemory
		copying := testio.Writer(t, etl.NewWriter, &out, later)
		r := newReader(t, in.Bytes(), etl.WithoutAttribution())
		var rec etw.Record
		for err := r.Next(&rec); err == nil; err = r.Next(&rec) {
			if rec.Timestamp != h.Clock.Origin {
				rec.Payload = []byte("another and longer payload")
			}
			if err := copying.Copy(r, &rec); err != nil {
				t.Fatal(err)
			}
		}
		testio.Close(t, copying)
		if err := checkFile(out.Bytes()); err != nil {
			t.Errorf("form %d: %v", form, err)
		}
		all := mustReadAll(t, newReader(t, out.Bytes(), etl.WithoutAttribution()))
		if len(all) != 1 {
			t.Fatalf("form %d: %d records", form, len(all))
		}
		moved := *want
		moved.Payload, moved.Timestamp, moved.Clock = []byte("another and longer payload"), want.Timestamp+4900, all[0].Clock
		if w, g := describe(&moved), describe(all[0]); w != g {
			t.Errorf("form %d: got\n%q\nwant\n%q", form, g, w)
		}
	}
}

// TestWriter writes records as programs do, with a manifest, and reads them back.
func TestWriter(t *testing.T) {
	clock := etw.Clock{Start: etw.FileTimeOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), Origin: 1000, Frequency: 1e7}
	var out fileInMemory
	w := testio.Writer(t, etl.NewWriter, &out, etl.Header{Clock: clock, SessionName: "mine", Processors: 2})
	const manifest = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="Mine" guid="{2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5}"><events><event value="513" version="1" template="T" symbol="Mine"/></events>
<templates><template tid="T"><data name="n" inType="win:UInt32"/></template></templates></provider></events></instrumentation></instrumentationManifest>`
	rec := etw.Record{Provider: testProvider, ID: 513, Version: 1, ProcessID: 5, ThreadID: 6, PointerSize: etw.Ptr64, Timestamp: 2000, Clock: &clock, Payload: []byte{1, 0, 0, 0}}
	if err := w.WriteManifest(&rec, []byte(manifest)); err != nil {
		t.Fatal(err)
	}
	for i := range int64(1000) {
		rec.Timestamp, rec.Processor = 2000+i, int32(i%2)
		testio.Add(t, w, &rec)
		if i == 500 {
			if err := w.Flush(-1); err != nil {
				t.Fatal(err)
			}
		}
	}
	thread, _ := classic.KernelClass(5, 36)
	kernel := etw.Record{Kind: etw.KindClassic, Provider: thread, Opcode: 36, Version: 4, ProcessID: -1, ThreadID: -1, PointerSize: etw.Ptr64, Timestamp: 3000, Clock: &clock, Payload: make([]byte, 24)}
	testio.Add(t, w, &kernel)
	w.Lost(3, 4)
	testio.Close(t, w)
	if err := w.Write(&rec); err == nil || w.Close() != nil {
		t.Error("a closed Writer writes")
	}
	if err := checkFile(out.Bytes()); err != nil {
		t.Error(err)
	}
	r := newReader(t, out.Bytes())
	all := mustReadAll(t, r)
	h := r.Header()
	if len(all) != 1002 || h.EventsLost != 3 || h.BuffersLost != 4 || h.End != clock.FileTime(3000) {
		t.Errorf("%d records, %+v", len(all), h)
	}
	if s := all[1].Schema; s == nil || len(s.Fields) != 1 || s.Fields[0].Name != "n" {
		t.Errorf("schema %+v", s)
	}
	if last := all[len(all)-1]; last.Key() != kernel.Key() || last.ProviderName != "Thread" {
		t.Errorf("%v %s", last.Key(), last.ProviderName)
	}
}

// TestWriterClock has no clock for a Writer, which takes that of the first record that has
// one, also if nothing can be written twice.
func TestWriterClock(t *testing.T) {
	clock := etw.Clock{Start: etw.FileTimeOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), Origin: 1000, Frequency: 1e9}
	for name, c := range map[string]struct {
		out   interface{ Bytes() []byte }
		count int
	}{"file": {new(fileInMemory), 3}, "stream": {new(bytes.Buffer), 3}, "large": {new(bytes.Buffer), 500}, "empty": {new(bytes.Buffer), 0}} {
		w := testio.Writer(t, etl.NewWriter, c.out.(io.Writer), etl.Header{SessionName: "mine", BufferSize: 4 << 10})
		for i := range int64(c.count) {
			rec := etw.Record{Provider: testProvider, ID: 513, PointerSize: etw.Ptr64, Timestamp: 1000 + i*1e6, Clock: &clock, Payload: make([]byte, 40)}
			testio.Add(t, w, &rec)
		}
		testio.Close(t, w)
		if _, ok := c.out.(io.WriterAt); ok {
			if err := checkFile(c.out.Bytes()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		r := newReader(t, c.out.Bytes())
		all := mustReadAll(t, r)
		if len(all) != c.count {
			t.Fatalf("%s: %d records", name, len(all))
		}
		for i, rec := range all {
			if want := clock.Start.Time().Add(time.Duration(i) * time.Millisecond); !rec.Time().Equal(want) {
				t.Fatalf("%s: record %d is of %v, want %v", name, i, rec.Time(), want)
			}
		}
		if c.count > 0 && !r.Header().Start().Equal(clock.Start.Time()) {
			t.Errorf("%s: the session began at %v", name, r.Header().Start())
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for name, h := range map[string]etl.Header{
		"small": {BufferSize: 512}, "odd": {BufferSize: 2052}, "large": {BufferSize: 32 << 20}, "compression": {Compression: 9},
		"names": {BufferSize: 1024, SessionName: strings.Repeat("long", 200)}, "record": {SessionName: strings.Repeat("long", 10_000)},
	} {
		if _, err := etl.NewWriter(io.Discard, h); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w := testio.Writer(t, etl.NewWriter, io.Discard, etl.Header{BufferSize: 1024})
	for name, rec := range map[string]etw.Record{
		"long": {Payload: make([]byte, 1<<16)}, "longer than a buffer": {Payload: make([]byte, 2000)}, "processor": {Processor: 5000},
		"process": {ProcessID: 1 << 32}, "thread": {Kind: etw.KindMessage, ThreadID: 1 << 32},
	} {
		if err := w.Write(&rec); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := w.WriteManifest(&etw.Record{}, make([]byte, 60<<20)); err == nil {
		t.Error("a manifest of more parts than are counted")
	}
}
