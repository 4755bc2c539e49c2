package parquet_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// records is a source of n events: GCStart_V2, or the function's output for them.
type records struct {
	n, i    int
	payload []byte
	clock   etw.Clock
	change  func(i int, r *etw.Record)
	err     error // in place of the end
}

func newRecords(n int) *records {
	p, err := (&clr.GCStartV2{Count: 1, Depth: 2, Reason: clr.GCReasonAllocSmall, ClrInstanceID: 9, ClientSequenceNumber: 7}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		panic(err)
	}
	return &records{n: n, payload: p, clock: etw.Clock{Start: 133500000000000000, Frequency: 10_000_000}}
}

func (s *records) Next(r *etw.Record) error {
	if s.i == s.n {
		if err := s.err; err != nil {
			s.err = nil
			return err
		}
		return io.EOF
	}
	d := (*clr.GCStartV2)(nil).EventDesc()
	binary.LittleEndian.PutUint32(s.payload, uint32(s.i))
	*r = etw.Record{Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, Level: d.Level, Keywords: d.Keywords, PointerSize: etw.Ptr64,
		Processor: int32(s.i % 8), ProcessID: 4242, ThreadID: int64(s.i % 20), Timestamp: int64(s.i) * 10, Clock: &s.clock, Payload: s.payload}
	if s.change != nil {
		s.change(s.i, r)
	}
	s.i++
	return nil
}

func options(t testing.TB) parquet.Options {
	return parquet.Options{Dir: t.TempDir(), Trace: "a.nettrace", ID: "content", Host: "web 1", Providers: []*etw.Provider{clr.Provider}}
}

func export(t *testing.T, src etw.Source, o parquet.Options) *parquet.Manifest {
	t.Helper()
	m, err := parquet.Export(context.Background(), src, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// files lists the files of a lake.
func files(t *testing.T, dir string) []string {
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestExport(t *testing.T) {
	o := options(t)
	m := export(t, newRecords(1000), o)
	if m.Events != 1000 || !m.Complete || len(m.Files) != 2 || m.PayloadBytes != 26*1000 {
		t.Errorf("%+v", m)
	}
	f := m.Files[0]
	if f.Event != "GCStart" || f.Versions[2] != 1000 || !slices.Equal(f.IDs, []int{1}) || f.Rows != 1000 || f.Last.Sub(*f.First).Microseconds() != 999 {
		t.Errorf("%+v", f)
	}
	list := files(t, o.Dir)
	if len(list) != 3 || !strings.HasPrefix(list[0], "_traces/"+m.TraceID[:2]+"/"+m.TraceID+"-") || list[1] != f.Path ||
		!strings.HasPrefix(f.Path, "event=Microsoft-Windows-DotNETRuntime.GCStart/date=2024-01-17/a.nettrace-"+m.TraceID+"-") {
		t.Errorf("%q", list)
	}
	if _, err := parquet.ReadManifest(o.Dir, parquet.TraceID("web2", "content")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a manifest of another host: %v", err)
	}
	if read, err := parquet.ReadManifest(o.Dir, parquet.TraceID("web 1", "content")); err != nil || read.Events != 1000 {
		t.Errorf("%v, %v", read, err)
	}
}

// An export that comes to nothing leaves no folder that it made, and those of others.
func TestNoFolders(t *testing.T) {
	there := t.TempDir()
	o := options(t)
	o.Dir = filepath.Join(there, "a", "lake")
	w, err := parquet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	other := o
	other.Trace, other.ID = "b.nettrace", ""
	both, err := parquet.New(other)
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if list, err := os.ReadDir(filepath.Join(o.Dir, "_runs")); err != nil || len(list) != 1 {
		t.Errorf("the other export has %v, %v", list, err)
	}
	both.Abort()
	if w, err = parquet.New(o); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if list, err := os.ReadDir(o.Dir); err != nil || len(list) != 0 { // it was there
		t.Errorf("the lake has %v, %v", list, err)
	}
	os.RemoveAll(filepath.Join(there, "a"))
	if w, err = parquet.New(o); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if list, err := os.ReadDir(there); err != nil || len(list) != 0 {
		t.Errorf("%v is left, %v", list, err)
	}
}

// A second export of a recording comes in place of the first, and has the same content byte by
// byte. That of another host, or of other content, is another recording, whatever its name.
func TestIdentity(t *testing.T) {
	o := options(t)
	read := func(m *parquet.Manifest) string {
		return string(testio.Read(t, filepath.Join(o.Dir, m.Files[0].Path)))
	}
	m := export(t, newRecords(5000), o)
	before := read(m)
	again := export(t, newRecords(5000), o)
	if m.TraceID != again.TraceID || m.Run >= again.Run || len(files(t, o.Dir)) != 3 || read(again) != before {
		t.Errorf("%v, then %v: %q", m, again, files(t, o.Dir))
	}
	o.Trace = "b.nettrace"
	if again = export(t, newRecords(5000), o); again.TraceID != m.TraceID || len(files(t, o.Dir)) != 3 {
		t.Errorf("by another name: %q", files(t, o.Dir))
	}
	for _, change := range []func(){func() { o.Host = "web2" }, func() { o.ID = "other" }, func() { o.ID = "" }, func() {}} {
		change()
		n := len(files(t, o.Dir))
		if export(t, newRecords(5000), o); len(files(t, o.Dir)) != n+3 {
			t.Errorf("%+v: %q", o, files(t, o.Dir))
		}
	}
}

// A trace that cannot be read to its end is exported as far as it is good. One that cannot
// be written, or is interrupted, leaves nothing.
func TestTrouble(t *testing.T) {
	o := options(t)
	src := newRecords(10)
	src.err = errors.New("it is cut off")
	m := export(t, src, o)
	if m.Complete || m.Events != 10 || len(m.Problems) != 1 {
		t.Errorf("%+v", m)
	}
	o = options(t)
	ctx, cancel := context.WithCancel(context.Background())
	src = newRecords(5000)
	src.change = func(i int, _ *etw.Record) {
		if i == 3000 {
			cancel()
		}
	}
	if _, err := parquet.Export(ctx, src, o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if list := files(t, o.Dir); len(list) != 0 {
		t.Errorf("%q", list)
	}
	testio.Write(t, filepath.Join(o.Dir, "file"), "")
	o.Dir = filepath.Join(o.Dir, "file")
	if _, err := parquet.Export(context.Background(), newRecords(1), o, nil); err == nil {
		t.Error("a lake below a file")
	}
}

// Events of which nothing is known, or whose payload does not fit, are rows, too.
func TestUndecodable(t *testing.T) {
	o := options(t)
	src := newRecords(30)
	src.change = func(i int, r *etw.Record) {
		switch i % 3 {
		case 1:
			r.Payload = r.Payload[:7]
		case 2:
			r.Provider[0]++
		}
	}
	m := export(t, src, o)
	if m.Events != 30 || m.Undecodable != 10 || m.Undescribed != 10 || len(m.Files) != 3 {
		t.Errorf("%+v", m)
	}
}

// schemas makes events of as many types as there are numbers, each with fields of its own.
func schemas(kinds int) func(i int, r *etw.Record) {
	provider := &etw.ProviderDesc{Name: "Test"}
	known := make([]*etw.EventDesc, kinds)
	return func(i int, r *etw.Record) {
		k := i % kinds
		if known[k] == nil {
			known[k] = &etw.EventDesc{Provider: provider, ID: uint16(k), Name: "E" + string(rune('A'+k%26)) + strings.Repeat("x", k/26), Named: true,
				Fields: []etw.FieldDesc{{Name: "A", Type: etw.InUInt32}, {Name: "a", Type: etw.InUInt32}, {Name: "Version", Type: etw.InUInt16}}}
		}
		r.Schema, r.ID, r.Version, r.Provider = known[k], uint16(k), 0, etw.GUID{1}
	}
}

// The number of files that are written at a time has a limit.
func TestManyTypes(t *testing.T) {
	o := options(t)
	src := newRecords(2200)
	src.change = schemas(1100)
	m := export(t, src, o)
	rows := int64(0)
	for _, f := range m.Files {
		if f.Table == "" {
			rows += f.Rows
		}
	}
	if rows != 2200 || m.Events != 2200 || len(m.Files) < 1100 {
		t.Errorf("%d rows in %d files", rows, len(m.Files))
	}
}

// A row takes no allocation, and memory has a bound that the input does not move.
func TestMemory(t *testing.T) {
	o := options(t)
	o.MaxMemory = 4 << 20
	w, err := parquet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	src := newRecords(1 << 30)
	var r etw.Record
	add := func(n int) {
		for range n {
			if err := src.Next(&r); err != nil {
				t.Fatal(err)
			}
			if err := w.Add(&r); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(300_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 600_000
	add(n)
	runtime.ReadMemStats(&after)
	if per := float64(after.Mallocs-before.Mallocs) / n; per > 0.01 {
		t.Errorf("%.3f allocations for a row", per)
	}
	if after.HeapInuse > 64<<20 {
		t.Errorf("%d MB in use", after.HeapInuse>>20)
	}
}

func BenchmarkFixedEvents(b *testing.B) {
	w, err := parquet.New(options(b))
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	src := newRecords(1 << 30)
	var r etw.Record
	b.ReportAllocs()
	for b.Loop() {
		if err := src.Next(&r); err != nil {
			b.Fatal(err)
		}
		if err := w.Add(&r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
