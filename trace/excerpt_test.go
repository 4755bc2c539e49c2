package trace

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// longNetTrace has blocks of a hundred events of one kind, in the middle one of another,
// and payloads of all lengths, so that blocks begin at all alignments.
func longNetTrace(version int) []byte {
	w := nettracetest.NewWriter(version, nettracetest.Trace{Start: sessionStart, Pointer: etw.Ptr64, ProcessID: 7, Processors: 2})
	if version == 6 {
		w.Threads(nettracetest.Thread{Index: 1})
	}
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Usual", EventID: 1, Name: "Tick"})
	for i := range 200 {
		if i == 100 {
			w.Metadata(nettracetest.Row{ID: 2, Provider: "Rare", EventID: 2, Name: "Tock"})
			w.Stacks(1, []uint64{1, 2, 3})
		}
		var events []nettracetest.Event
		for j := range 100 {
			e := nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(i*100+j) * 1e5, SortPoint: true, Payload: make([]byte, (i+j)%7)}
			if i == 100 && j == 50 {
				e.Metadata = 2
			}
			events = append(events, e)
		}
		w.Events(events...)
	}
	w.End()
	return w.Bytes()
}

// longETLTrace has events of three processors, of one provider or another.
func longETLTrace(t *testing.T, compression etl.Compression) []byte {
	t.Helper()
	h := etltest.DefaultHeader()
	h.Clock.Start = etw.FileTimeOf(sessionStart)
	h.End = h.Clock.Start + 20e7
	h.Clock.Origin = 0
	h.BufferSize = 4096
	h.Compression = compression
	var records []*etw.Record
	for i := range 20000 {
		records = append(records, &etw.Record{
			Provider: etw.GUID{1, byte(i / 19000)}, ID: uint16(i % 50), PointerSize: etw.Ptr64, Processor: int32(i / 7 % 3),
			Timestamp: int64(i) * 1e4, ProcessID: 7, ThreadID: int64(i), Payload: make([]byte, i%17),
		})
	}
	return testio.Encoded(t, etltest.File, h, records...)
}

// openOne opens a file with one trace.
func openOne(t *testing.T, data []byte, opts ...Option) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.trace")
	testio.Write(t, path, data)
	files, err := OpenFiles(path, opts...)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	t.Cleanup(func() { files[0].Close() })
	return files[0]
}

// identities tell records apart.
func identities(t *testing.T, f *File) (list []string) {
	t.Helper()
	var rec etw.Record
	for {
		err := f.Next(&rec)
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(rec.ProviderName, rec.Provider, rec.ID, rec.Timestamp, rec.ThreadID, len(rec.Payload)))
	}
}

// factsOf returns facts by their keys.
func factsOf(f *File) map[string]any {
	all := make(map[string]any)
	for _, fact := range f.Facts() {
		all[fact.Key] = fact.Value
	}
	return all
}

// longTraces returns a trace of each format, by name.
func longTraces(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"netperf 3": longNetTrace(3), "nettrace 4": longNetTrace(4), "nettrace 6": longNetTrace(6),
		"etl": longETLTrace(t, etl.CompressionNone), "compressed": longETLTrace(t, etl.CompressionXpress),
	}
}

// An excerpt has records that the whole has as well, the first and the last among them,
// and says the same of the whole as that, as far as it says something.
func TestExcerpt(t *testing.T) {
	for name, data := range longTraces(t) {
		t.Run(name, func(t *testing.T) {
			whole, part := openOne(t, data), openOne(t, data, WithExcerpt(int64(len(data)/2)))
			if _, ok := whole.Excerpt(); ok {
				t.Error("what is read whole is an excerpt")
			}
			n, ok := part.Excerpt()
			if !ok || n <= 0 || n > int64(len(data))/3 {
				t.Fatalf("%d of %d bytes are read, %v", n, len(data), ok)
			}
			all, some := identities(t, whole), identities(t, part)
			if len(some) == 0 || len(some) > len(all)/2 {
				t.Fatalf("%d of %d records", len(some), len(all))
			}
			known := make(map[string]bool)
			for _, id := range all {
				known[id] = true
			}
			for _, id := range some {
				if !known[id] {
					t.Fatalf("the whole has no record %s", id)
				}
			}
			if some[0] != all[0] || some[len(some)-1] != all[len(all)-1] {
				t.Errorf("from %s to %s, want from %s to %s", some[0], some[len(some)-1], all[0], all[len(all)-1])
			}
			want := factsOf(whole)
			for key, value := range factsOf(part) {
				if fmt.Sprint(value) != fmt.Sprint(want[key]) {
					t.Errorf("%s is %v, of the whole %v", key, value, want[key])
				}
			}
			if s := part.Stats(); s.Lost != 0 || s.Undecodable != 0 {
				t.Errorf("losses that there are none of: %+v", s)
			}
		})
	}
}

// An event of a kind that is new in the middle of a stream is not missed.
func TestExcerptOfRareEvents(t *testing.T) {
	for _, version := range []int{4, 6} {
		data := longNetTrace(version)
		part := openOne(t, data, WithExcerpt(int64(len(data)/2)))
		if _, ok := part.Excerpt(); !ok {
			t.Errorf("version %d is read whole", version)
		}
		var rec etw.Record
		rare := 0
		for part.Next(&rec) == nil {
			if rec.ProviderName == "Rare" {
				rare++
			}
		}
		if rare != 1 {
			t.Errorf("version %d: %d rare events, want 1", version, rare)
		}
	}
}

// whole checks that a file is read whole for all that only a part was asked for, with the
// same result.
func whole(t *testing.T, what string, data []byte, opts ...Option) {
	t.Helper()
	got, want := openOne(t, data, opts...), openOne(t, data)
	if n, ok := got.Excerpt(); ok {
		t.Errorf("%s: only %d of %d bytes are read", what, n, len(data))
		return
	}
	wantErr, gotErr := drain(want), drain(got)
	if (gotErr == io.EOF) != (wantErr == io.EOF) || fmt.Sprint(factsOf(got)) != fmt.Sprint(factsOf(want)) {
		t.Errorf("%s: %v, %v, want %v, %v", what, gotErr, got.Facts(), wantErr, want.Facts())
	}
}

// blocksOf returns the blocks of a file.
func blocksOf(t *testing.T, data []byte) (all []blocks.Block) {
	t.Helper()
	err := blocks.List(bytes.NewReader(data), int64(len(data)), func(b blocks.Block) error {
		all = append(all, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// zeroed returns data with zeros in place of n bytes at an offset.
func zeroed(data []byte, at int64, n int) []byte {
	data = bytes.Clone(data)
	clear(data[at:][:n])
	return data
}

// A file that is cut off is read whole, and says so.
func TestExcerptOfTheCutOff(t *testing.T) {
	for name, data := range longTraces(t) {
		over := WithExcerpt(int64(len(data) / 2))
		for _, end := range []int{len(data) - 1, len(data) - 333, len(data)*3/4 - 5, len(data)/2 + 7} {
			whole(t, fmt.Sprint(name, ", ", end, " bytes"), data[:end], over)
		}
		if name == "etl" {
			whole(t, "some buffers are missing at the end", data[:len(data)-8*4096], over)
		}
		whole(t, name+" with zeros behind", append(bytes.Clone(data), make([]byte, 9000)...), over)
	}
}

// A file with a fault in the part looked at is read whole.
func TestExcerptOfFaults(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		data := longNetTrace(version)
		over := WithExcerpt(int64(len(data) / 2))
		all := blocksOf(t, data)
		mid := all[len(all)/2]
		whole(t, fmt.Sprint("a hole in version ", version), zeroed(data, mid.Offset+mid.Size-200, 600), over)
		hole := slices.Concat(data[:mid.Offset], make([]byte, 64<<10), data[mid.Offset:])
		whole(t, fmt.Sprint("a hole between blocks of version ", version), hole, over)
		damaged := bytes.Clone(data)
		copy(damaged[all[3].Offset+all[3].Size/2:], bytes.Repeat([]byte{0xff}, 100))
		whole(t, fmt.Sprint("the begin of version ", version), damaged, over)
	}
	for _, c := range []etl.Compression{etl.CompressionNone, etl.CompressionXpress} {
		data := longETLTrace(t, c)
		over := WithExcerpt(int64(len(data) / 2))
		all := blocksOf(t, data)
		last := all[len(all)-1]
		whole(t, "the begin of "+c.String(), zeroed(data, all[1].Offset+100, 400), over)
		whole(t, "the end of "+c.String(), zeroed(data, last.Offset+100, 400), over)
		whole(t, "the last buffer of "+c.String(), zeroed(data, last.Offset, int(last.Size)), over)
	}
}

// A file damaged elsewhere has facts that are true of it, and not that it ended cleanly.
func TestExcerptOfTheUnseen(t *testing.T) {
	for name, data := range map[string][]byte{
		"nettrace 4": longNetTrace(4),
		"nettrace 6": longNetTrace(6),
		"etl":        longETLTrace(t, etl.CompressionNone),
	} {
		all := blocksOf(t, data)
		mid := all[len(all)/3]
		part := openOne(t, zeroed(data, mid.Offset+mid.Size/2, 100), WithExcerpt(int64(len(data)/2)))
		if _, ok := part.Excerpt(); !ok {
			t.Errorf("%s: it is read whole", name)
		}
		if err := drain(part); err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
		want := openOne(t, data)
		drain(want)
		got, facts := factsOf(part), factsOf(want)
		if clean, ok := got["endedCleanly"]; ok || got["end"] != facts["end"] || got["durationMs"] != facts["durationMs"] {
			t.Errorf("%s: ended cleanly %v, %v, want %v", name, clean, got, facts)
		}
	}
}

// A session that was not stopped is read whole: its header does not know when it ended.
func TestExcerptOfTheRunning(t *testing.T) {
	h := etltest.DefaultHeader()
	h.End, h.BufferSize = 0, 4096
	var records []*etw.Record
	for i := range 5000 {
		records = append(records, &etw.Record{Provider: etw.GUID{1}, PointerSize: etw.Ptr64, Timestamp: h.Clock.Origin + int64(i)})
	}
	data := testio.Encoded(t, etltest.File, h, records...)
	whole(t, "running", data, WithExcerpt(int64(len(data)/2)))
}

// An excerpt is never larger than it may be, whatever the blocks are, nor is the list of
// them.
func TestExcerptBounds(t *testing.T) {
	data := longNetTrace(4)
	over := WithExcerpt(int64(len(data) / 2))
	whole(t, "too many blocks", data, over, func(o *options) { o.excerptBlocks = 100 })

	large := nettracetest.Event{Metadata: 1, Thread: 1, Time: 2, SortPoint: true, Payload: make([]byte, 60<<10)}
	w := nettracetest.NewWriter(4, nettracetest.Trace{Start: sessionStart})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Large", EventID: 1})
	w.Events(large)
	w.Events(large)
	w.End()
	whole(t, "large blocks", w.Bytes(), WithExcerpt(64<<10))

	tiny := slices.Concat(longNetTrace(6)[:blocksOf(t, longNetTrace(6))[1].Offset], bytes.Repeat([]byte{0, 0, 0, 0x4d}, 1<<18))
	whole(t, "tiny blocks", tiny, WithExcerpt(64<<10))

	for _, version := range []int{3, 4, 6} {
		data := longNetTrace(version)
		for over := int64(1 << 10); over < int64(len(data)); over += over / 3 {
			if n, ok := openOne(t, data, WithExcerpt(over)).Excerpt(); ok && n > over/4 {
				t.Errorf("version %d: %d bytes are read where %d are many", version, n, over)
			}
		}
	}
}

// A file that is not larger, or cannot be read in parts, is read whole.
func TestExcerptOfTheSmall(t *testing.T) {
	data := longNetTrace(4)
	for name, f := range map[string]*File{
		"small":  openOne(t, data, WithExcerpt(int64(len(data)))),
		"packed": openOne(t, gzipped(data), WithExcerpt(1<<10)),
	} {
		if _, ok := f.Excerpt(); ok {
			t.Errorf("%s: only a part is read", name)
		}
		if n := len(identities(t, f)); n != 20000 {
			t.Errorf("%s: %d records", name, n)
		}
	}
}

// Whatever is wrong with a file, an excerpt of it ends.
func TestExcerptOfTheDamaged(t *testing.T) {
	for _, data := range [][]byte{longNetTrace(3), longNetTrace(4), longNetTrace(6), longETLTrace(t, etl.CompressionNone), longETLTrace(t, etl.CompressionXpress)} {
		for at := 0; at < len(data); at += 7 + at/2 {
			damaged := bytes.Clone(data)
			for i := at; i < min(at+3, len(damaged)); i++ {
				damaged[i] ^= 0xff
			}
			path := filepath.Join(t.TempDir(), "a.trace")
			testio.Write(t, path, damaged)
			files, err := OpenFiles(path, WithExcerpt(int64(len(data)/2)))
			if err != nil {
				continue
			}
			var rec etw.Record
			for n := 0; files[0].Next(&rec) == nil; n++ {
				if n > 20000 {
					t.Fatalf("a byte at %d is wrong, and it does not end", at)
				}
			}
			if _, ok := files[0].Excerpt(); ok && factsOf(files[0])["endedCleanly"] != nil {
				t.Errorf("a byte at %d is wrong, and it ended cleanly or not", at)
			}
			files[0].Close()
		}
	}
}
