package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// widthRecord returns a record that any stream can hold.
func widthRecord(at int64) *etw.Record {
	return &etw.Record{Provider: nettrace.ProviderGUID("Widths"), ProviderName: "Widths", ID: 1, PointerSize: etw.Ptr64, Timestamp: at, ProcessID: 7, ThreadID: 1, Payload: []byte{1}}
}

func widthWriter(t *testing.T, version int, opts ...nettrace.WriterOption) (*nettrace.Writer, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	w, err := nettrace.NewWriter(out, nettrace.Header{Version: version, ProcessID: 7}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return w, out
}

// deepStack returns a stack of so many frames that no other number has.
func deepStack(frames, number int) etw.Stack {
	s := etw.Stack{PtrSize: etw.Ptr64}
	for i := range frames {
		s.Addresses = binary.LittleEndian.AppendUint64(s.Addresses, uint64(number)<<32|uint64(i))
	}
	return s
}

// TestWriterBlocksFit writes small events that refer to much: stacks, labels and threads
// of which those of a block of events do not fit a block. All of it comes back.
func TestWriterBlocksFit(t *testing.T) {
	text := strings.Repeat("long", 10_000)
	for name, change := range map[string]func(r *etw.Record, o *nettrace.Origin, i int){
		"stacks": func(r *etw.Record, _ *nettrace.Origin, i int) { r.Stack = deepStack(8000, i) },
		"labels": func(r *etw.Record, _ *nettrace.Origin, i int) {
			r.Extended = []etw.ExtendedItem{textLabel(string(rune('a'+i%26))+text, text[:i])}
		},
		"threads": func(r *etw.Record, o *nettrace.Origin, i int) {
			r.ThreadID = int64(i)
			o.Thread = &nettrace.Thread{ProcessID: 7, ThreadID: r.ThreadID, Name: text[:40_000-i]}
		},
		"kinds": func(r *etw.Record, _ *nettrace.Origin, i int) {
			r.ID = uint16(i)
			r.Schema = &etw.EventDesc{Name: text[:40_000-i]}
		},
	} {
		for _, opts := range [][]nettrace.WriterOption{nil, {nettrace.WithoutOrder()}} {
			w, out := widthWriter(t, 6, opts...)
			const n = 500
			for i := range n {
				r, o := widthRecord(int64(i)), nettrace.Origin{CaptureThread: 1}
				change(r, &o, i)
				if err := w.WriteFrom(r, o); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			testio.Close(t, w)
			got := readWidths(t, out.Bytes())
			if len(got) != n {
				t.Errorf("%s: %d records of %d", name, len(got), n)
			}
			for i, r := range got {
				want, o := widthRecord(int64(i)), nettrace.Origin{}
				change(want, &o, i)
				if !bytes.Equal(r.Stack.Addresses, want.Stack.Addresses) || len(r.Extended) != len(want.Extended) || r.ThreadID != want.ThreadID || r.ID != want.ID {
					t.Fatalf("%s: record %d is another one: %v", name, i, r.Key())
				}
			}
		}
	}
}

// textLabel returns a label of a name and a text.
func textLabel(name, text string) etw.ExtendedItem {
	b := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	return etw.ExtendedItem{Type: nettrace.ExtLabel, Data: append(b, text...)}
}

// readWidths returns the records of a stream in which nothing is wrong.
func readWidths(t *testing.T, data []byte) (all []*etw.Record) {
	t.Helper()
	r := testio.Reader(t, nettrace.NewReader, data)
	var rec etw.Record
	err := r.Next(&rec)
	for ; err == nil; err = r.Next(&rec) {
		all = append(all, rec.Clone())
	}
	if s := r.Stats(); err != io.EOF || s.Lost != 0 || s.UnknownStacks+s.UnknownLabels+s.UnknownThreads+s.UnknownMetadata != 0 {
		t.Errorf("%v, %+v", err, s)
	}
	return all
}

// TestWriterStacksWithoutOrder writes stacks for ever into a stream that has no sequence
// points: the Writer does not hold them all.
func TestWriterStacksWithoutOrder(t *testing.T) {
	w, err := nettrace.NewWriter(io.Discard, nettrace.Header{Version: 4, ProcessID: 7}, nettrace.WithoutOrder())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		r := widthRecord(int64(i))
		r.Stack = deepStack(1000, i)
		testio.Add(t, w, r)
	}
	if held := nettrace.WriterHolds(w); held > 8<<20 {
		t.Errorf("it holds %d bytes of 160 MB of stacks", held)
	}
}

// TestWriterRefusesWidths tries values for which neither version has room, beside those for
// which it has: the record is refused, and the stream stays good.
func TestWriterRefusesWidths(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, c := range []struct {
		name    string
		version int
		change  func(r *etw.Record, o *nettrace.Origin)
		want    error
	}{
		{"payload", 4, func(r *etw.Record, _ *nettrace.Origin) { r.Payload = make([]byte, 16<<20) }, nettrace.ErrTooLong},
		{"payload", 6, func(r *etw.Record, _ *nettrace.Origin) { r.Payload = make([]byte, 16<<20) }, nettrace.ErrTooLong},
		{"stack", 4, func(r *etw.Record, _ *nettrace.Origin) { r.Stack = deepStack(2<<20, 1) }, nettrace.ErrTooLong},
		{"stack", 6, func(r *etw.Record, _ *nettrace.Origin) { r.Stack = deepStack(2<<20, 1) }, nettrace.ErrTooLong},
		{"label", 6, func(r *etw.Record, _ *nettrace.Origin) {
			r.Extended = []etw.ExtendedItem{textLabel("k", strings.Repeat(long, 300))}
		}, nettrace.ErrTooLong},
		{"thread", 6, func(r *etw.Record, o *nettrace.Origin) { o.Thread = &nettrace.Thread{Name: long} }, nettrace.ErrTooLong},
		{"capture thread", 6, func(r *etw.Record, o *nettrace.Origin) { o.Capture = &nettrace.Thread{Name: long} }, nettrace.ErrTooLong},
		{"provider", 6, func(r *etw.Record, _ *nettrace.Origin) { r.ProviderName = long }, nettrace.ErrTooLong},
		{"event", 6, func(r *etw.Record, _ *nettrace.Origin) { r.Schema = &etw.EventDesc{Name: long} }, nettrace.ErrTooLong},
		{"message", 6, func(r *etw.Record, _ *nettrace.Origin) { r.Schema = &etw.EventDesc{Message: long} }, nettrace.ErrTooLong},
		{"NUL", 4, func(r *etw.Record, _ *nettrace.Origin) { r.Schema = &etw.EventDesc{Name: "a\x00b"} }, nettrace.ErrNUL},
		{"NUL in a field", 4, func(r *etw.Record, _ *nettrace.Origin) {
			r.Schema = &etw.EventDesc{Fields: []etw.FieldDesc{{Name: "s", Type: etw.InStruct, Fields: []etw.FieldDesc{{Name: "a\x00b", Type: etw.InUInt8}}}}}
		}, nettrace.ErrNUL},
		{"NUL", 6, func(r *etw.Record, _ *nettrace.Origin) { r.Schema = &etw.EventDesc{Name: "a\x00b"} }, nil},
		{"long event", 4, func(r *etw.Record, _ *nettrace.Origin) { r.Schema = &etw.EventDesc{Name: long} }, nil},
	} {
		w, out := widthWriter(t, c.version)
		want := 2
		for i := range 3 {
			r, o := widthRecord(int64(i)), nettrace.Origin{CaptureThread: 1}
			if i == 1 {
				c.change(r, &o)
				if err := w.WriteFrom(r, o); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("%s, version %d: %v, want %v", c.name, c.version, err, c.want)
				} else if err == nil {
					want++
				}
				continue
			}
			if err := w.WriteFrom(r, o); err != nil {
				t.Errorf("%s, version %d: %v", c.name, c.version, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if got := readWidths(t, out.Bytes()); len(got) != want {
			t.Errorf("%s, version %d: %d records, want %d", c.name, c.version, len(got), want)
		}
	}
	for name, h := range map[string]nettrace.Header{
		"keys":     {Version: 6, Clock: etw.Clock{Frequency: 1e9}, Keys: []nettrace.KeyValue{{Key: "k", Value: strings.Repeat(long, 300)}}},
		"interval": {Version: 4, SamplingInterval: time.Minute},
	} {
		if _, err := nettrace.NewWriter(io.Discard, h); !errors.Is(err, nettrace.ErrTooLong) {
			t.Errorf("header, %s: %v", name, err)
		}
	}
}

// TestWriterManyThreads logs one event of each of many threads: version 4 forgets them as
// version 6 does.
func TestWriterManyThreads(t *testing.T) {
	for _, version := range []int{4, 6} {
		w, out := widthWriter(t, version)
		for i := range 100_000 {
			r := widthRecord(int64(i))
			r.ThreadID = int64(i)
			testio.Add(t, w, r)
		}
		testio.Close(t, w)
		if got := readWidths(t, out.Bytes()); len(got) != 100_000 {
			t.Errorf("version %d: %d records", version, len(got))
		}
	}
}
