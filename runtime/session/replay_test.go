package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// forever has records wait until everything has arrived, so that all is known of them
// that the reader of files knows.
var forever = Consumption{Window: math.MaxInt64, WindowBytes: math.MaxInt32, QueueBytes: 64 << 20}

// headerLike returns Windows' facts about the session that a file was recorded by.
func headerLike(h etl.Header) logfileHeader {
	return logfileHeader{
		bufferSize: h.BufferSize, processors: h.Processors, pointerSize: uint32(h.PointerSize), cpuSpeed: h.ProcessorMHz,
		logFileMode: uint32(h.Mode), perfFreq: h.Clock.Frequency, startTime: int64(h.Clock.Start), clockType: uint32(h.ClockType),
		bootTime: int64(h.Boot),
	}
}

// cutBuffers returns the buffers of a file.
func cutBuffers(t testing.TB, path string) (list [][]byte) {
	t.Helper()
	data := testio.Read(t, path)
	for len(data) > 0 {
		n := int(binary.LittleEndian.Uint32(data))
		if n < 72 {
			t.Fatalf("%s: a buffer of %d bytes", path, n)
		}
		n = min(n, len(data))
		list = append(list, data[:n])
		data = data[n:]
	}
	return list
}

// different says in which field two records differ, or "".
func different(a, b *etw.Record) string {
	switch {
	case a.Key() != b.Key() || a.ID != b.ID || a.Opcode != b.Opcode:
		return fmt.Sprintf("key %v, %v", a.Key(), b.Key())
	case a.Timestamp != b.Timestamp || !a.Time().Equal(b.Time()):
		return fmt.Sprintf("time %d, %d, %v, %v", a.Timestamp, b.Timestamp, a.Time(), b.Time())
	case a.ProcessID != b.ProcessID || a.ThreadID != b.ThreadID || a.Processor != b.Processor:
		return fmt.Sprintf("process %d/%d on %d, %d/%d on %d", a.ProcessID, a.ThreadID, a.Processor, b.ProcessID, b.ThreadID, b.Processor)
	case a.Channel != b.Channel || a.Level != b.Level || a.Task != b.Task || a.Keywords != b.Keywords || a.PointerSize != b.PointerSize:
		return "header"
	case a.ActivityID != b.ActivityID || a.RelatedActivityID != b.RelatedActivityID:
		return "activity"
	case a.ProviderName != b.ProviderName:
		return fmt.Sprintf("provider %q, %q", a.ProviderName, b.ProviderName)
	case !bytes.Equal(a.Payload, b.Payload):
		return fmt.Sprintf("payload % x, % x", a.Payload, b.Payload)
	case a.Stack.PtrSize != b.Stack.PtrSize || !bytes.Equal(a.Stack.Addresses, b.Stack.Addresses):
		return "stack"
	case !slices.EqualFunc(a.Extended, b.Extended, func(x, y etw.ExtendedItem) bool { return x.Type == y.Type && bytes.Equal(x.Data, y.Data) }):
		return fmt.Sprintf("items %v, %v", a.Extended, b.Extended)
	case (a.Schema == nil) != (b.Schema == nil):
		return fmt.Sprintf("schema %v, %v", a.Schema != nil, b.Schema != nil)
	case a.Schema != nil && (a.Schema.Title() != b.Schema.Title() || len(a.Schema.Fields) != len(b.Schema.Fields)):
		return fmt.Sprintf("schema %s, %s", a.Schema.Title(), b.Schema.Title())
	}
	return ""
}

// compare reads a session and a file to their ends, and reports how many records there
// are. Each of them must be equal in all fields, but for the name of the file.
func compare(t *testing.T, s *Session, r *etl.Reader) (n int) {
	t.Helper()
	path := r.Header().File
	var want, got etw.Record
	for faults := 0; faults < 3; n++ {
		errWant, errGot := r.Next(&want), s.Next(&got)
		if errWant != nil || errGot != nil {
			if errWant != io.EOF || errGot != io.EOF {
				t.Errorf("%s: record %d: the file ends with %v, the session with %v", filepath.Base(path), n, errWant, errGot)
			}
			break
		}
		if d := different(&want, &got); d != "" {
			t.Errorf("%s: record %d: %s", filepath.Base(path), n, d)
			faults++
		}
	}
	return n
}

// TestReplayBuffers: the buffers of a file, delivered live, give the records of the
// file.
func TestReplayBuffers(t *testing.T) {
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		f := install(t)
		f.buffers = true
		buffers := cutBuffers(t, path)
		f.header = headerLike(fileHeader(t, path))
		s := begin(t, Config{Name: "replay", Consumption: forever})
		if !s.DeliversBuffers() {
			t.Fatal("no buffers")
		}
		go func() {
			for _, b := range buffers {
				f.session("replay").items <- fakeItem{buffer: b}
			}
			s.Stop(t.Context())
		}()
		n := compare(t, s, openFile(t, path))
		if st := s.Stats(); st.OutOfOrder+st.Undecodable+st.Unknown+st.UnreadBytes != 0 || st.Records != int64(n) || st.Buffers != int64(len(buffers)) {
			t.Errorf("%s: %+v", filepath.Base(path), st)
		}
		t.Logf("%s: %d records", filepath.Base(path), n)
	}
}

func openFile(t testing.TB, path string) *etl.Reader {
	t.Helper()
	r := testio.Open(t, etl.Open, path)
	t.Cleanup(func() { r.Close() })
	return r
}

func fileHeader(t testing.TB, path string) etl.Header { return openFile(t, path).Header() }

// TestReplayEvents: so do its events one by one.
func TestReplayEvents(t *testing.T) {
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		f := install(t)
		f.header = headerLike(fileHeader(t, path))
		s := begin(t, Config{Name: "replay", Consumption: forever})
		go func() {
			r, err := etl.Open(path, etl.WithoutSchemas(), etl.WithoutAttribution())
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for rec := range r.Records() {
				f.session("replay").items <- fakeItem{event: newEvent(rec)}
			}
			s.Stop(t.Context())
		}()
		t.Logf("%s: %d records", filepath.Base(path), compare(t, s, openFile(t, path)))
	}
}
