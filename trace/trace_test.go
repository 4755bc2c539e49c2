package trace

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

var sessionStart = time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)

// netTrace returns a trace whose events have the given numbers of milliseconds
// since its start as ids and as times.
func netTrace(start time.Time, ms ...int64) []byte {
	w := nettracetest.NewWriter(4, nettracetest.Trace{Start: start, Pointer: etw.Ptr64, ProcessID: 7, Processors: 2})
	var rows []nettracetest.Row
	var events []nettracetest.Event
	for i, m := range ms {
		id := uint32(i + 1)
		rows = append(rows, nettracetest.Row{ID: id, Provider: "Test", EventID: uint32(m), Name: "Tick"})
		events = append(events, nettracetest.Event{Metadata: id, Time: m * 1e6, Thread: 9, SortPoint: true})
	}
	w.Metadata(rows...)
	w.Events(events...)
	w.End()
	return w.Bytes()
}

// etlTrace is netTrace as an .etl file.
func etlTrace(tb testing.TB, start time.Time, ms ...int64) []byte {
	tb.Helper()
	h := etltest.DefaultHeader()
	h.Clock.Start = etw.FileTimeOf(start)
	h.End = h.Clock.Start + 1e7
	h.Clock.Origin = 0
	h.BufferSize = 4096
	var records []*etw.Record
	for _, m := range ms {
		records = append(records, &etw.Record{
			Provider: etw.MustParseGUID("11111111-2222-3333-4444-555555555555"), ID: uint16(m), PointerSize: etw.Ptr64,
			Timestamp: h.Clock.Origin + m*h.Clock.Frequency/1000, ProcessID: 7, ThreadID: 9,
		})
	}
	return testio.Encoded(tb, etltest.File, h, records...)
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// zipped returns an archive of files, given as names and contents in turn.
func zipped(files ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, _ := z.Create(files[i].(string))
		w.Write(files[i+1].([]byte))
	}
	z.Close()
	return b.Bytes()
}

func write(tb testing.TB, name string, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	testio.Write(tb, path, data)
	return path
}

// ids returns the ids of all events but those that every .etl file has, and the error.
func ids(next func(*etw.Record) error) (list []uint16, errs []error) {
	var rec etw.Record
	for {
		switch err := next(&rec); {
		case err == io.EOF:
			return list, errs
		case err != nil:
			errs = append(errs, err)
		case rec.Kind == etw.KindManifest:
			list = append(list, rec.ID)
		}
	}
}

func sameIDs(a []uint16, b ...uint16) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestOpen(t *testing.T) {
	net, file := netTrace(sessionStart, 1, 2, 3), etlTrace(t, sessionStart, 1, 2, 3)
	for _, c := range []struct {
		name   string
		data   []byte
		format string
		member string
	}{
		{"plain.txt", net, "nettrace 4", ""},
		{"plain.zip", file, "etl 1.5", ""}, // the suffix is of no account
		{"trace.nettrace.gz", gzipped(net), "nettrace 4", ""},
		{"trace.etl.gz", gzipped(file), "etl 1.5", ""},
		{"trace.nettrace.zip", zipped("README", []byte("hello"), "a/trace", net), "nettrace 4", ":a/trace"},
		{"trace.etl.zip", zipped("trace", file, "symbols.pdb", make([]byte, 500)), "etl 1.5", ":trace"},
	} {
		path := write(t, c.name, c.data)
		for _, from := range []string{path, Stdin} {
			opts := WithStdin(bytes.NewReader(c.data))
			sources, err := OpenFiles(from, opts)
			if err != nil {
				t.Errorf("%s as %s: %v", c.name, from, err)
				continue
			}
			if len(sources) != 1 {
				t.Fatalf("%s: %d traces", c.name, len(sources))
			}
			s := sources[0]
			name := from
			if from == Stdin {
				name = "<stdin>"
			}
			if want := name + c.member; s.Name() != want {
				t.Errorf("name %q, want %q", s.Name(), want)
			}
			if s.Format() != c.format {
				t.Errorf("%s: format %q, want %q", c.name, s.Format(), c.format)
			}
			got, errs := ids(s.Next)
			if len(errs) > 0 || !sameIDs(got, 1, 2, 3) {
				t.Errorf("%s as %s: events %v, errors %v", c.name, from, got, errs)
			}
			if p := s.Progress(); p > 1 || from == path && c.member == "" && p <= 0 {
				t.Errorf("%s: progress %v at the end", c.name, p)
			}
			if err := s.Close(); err != nil {
				t.Errorf("%s: close: %v", c.name, err)
			}
		}
	}
}

// TestOpenStdinFile reads a standard input that is a file from where it stands.
func TestOpenStdinFile(t *testing.T) {
	path := write(t, "in", append([]byte("skipped"), etlTrace(t, sessionStart, 5)...))
	f := testio.File(t, path)
	defer f.Close()
	if _, err := f.Seek(7, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	sources := testio.Open(t, OpenFiles, Stdin, WithStdin(f))
	if got, errs := ids(sources[0].Next); len(errs) > 0 || !sameIDs(got, 5) {
		t.Errorf("events %v, errors %v", got, errs)
	}
}

func TestOpenArchiveOfSeveral(t *testing.T) {
	path := write(t, "several.zip", zipped("one", netTrace(sessionStart, 1), "two", etlTrace(t, sessionStart, 2), "three", netTrace(sessionStart, 3)))
	sources := testio.Open(t, OpenFiles, path)
	var names []string
	for _, s := range sources {
		names = append(names, strings.TrimPrefix(s.Name(), path))
		if got, errs := ids(s.Next); len(got) != 1 || len(errs) > 0 {
			t.Errorf("%s: events %v, errors %v", s.Name(), got, errs)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(names, ""); got != ":one:two:three" {
		t.Errorf("names %s", got)
	}
}

func TestOpenErrors(t *testing.T) {
	net := netTrace(sessionStart, 1)
	damaged := zipped("a.nettrace", net)
	copy(damaged[len("PK..................................."):], "\xff\xff\xff\xff")
	for _, c := range []struct {
		name string
		data []byte
		is   error
		want string
	}{
		{"empty", nil, ErrEmpty, "the file is empty"},
		{"text", []byte("hello"), ErrFormat, "not a trace"},
		{"long text", bytes.Repeat([]byte("hello world\n"), 1000), ErrFormat, "not a trace"},
		{"zeros", make([]byte, 4096), ErrFormat, "not a trace"},
		{"empty in gzip", gzipped(nil), ErrEmpty, "the file is empty"},
		{"text in gzip", gzipped(bytes.Repeat([]byte("hello world\n"), 1000)), ErrFormat, "not a trace"},
		{"gzip in gzip", gzipped(gzipped(net)), nil, "gzip within gzip is not supported"},
		{"zip in gzip", gzipped(zipped("a", net)), nil, "zip within gzip is not supported"},
		{"gzip in zip", zipped("a.gz", gzipped(net)), nil, "a.gz: gzip within zip is not supported"},
		{"zip in zip", zipped("a.zip", zipped("a", net)), nil, "a.zip: zip within zip is not supported"},
		{"no trace in zip", zipped("a", []byte("text"), "b", []byte{}), nil, "none of the 2 files in the archive is a trace"},
		{"empty zip", zipped(), nil, "none of the 0 files"},
		{"half a gzip header", gzipped(net)[:5], io.ErrUnexpectedEOF, "unexpected EOF"},
		{"gzip cut off at once", gzipped(etlTrace(t, sessionStart, 1))[:30], io.ErrUnexpectedEOF, "unexpected EOF"},
		{"no zip directory", zipped("a", net)[:60], zip.ErrFormat, "not a valid zip file"},
		{"damaged zip", damaged, nil, ""},
		{"half of the magic", net[:6], ErrFormat, "not a trace"},
		{"only the magic", net[:32], nil, "no end marker"},
		{"old netperf", []byte("\x14\x00\x00\x00!FastSerialization.1\x05\x05\x01\x02\x00\x00\x00\x02\x00\x00\x00\x16\x00\x00\x00Microsoft.DotNet.Runti"), nil, ""},
	} {
		path := write(t, "file", c.data)
		for _, from := range []string{path, Stdin} {
			sources, err := OpenFiles(from, WithStdin(bytes.NewReader(c.data)))
			if err == nil {
				// The fault shows once it is read.
				var errs []error
				if _, errs = ids(sources[0].Next); len(errs) > 0 {
					err = errs[0]
				}
				sources[0].Close()
			}
			if err == nil {
				t.Errorf("%s as %s: no error", c.name, from)
				continue
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s as %s: %v is not %v", c.name, from, err, c.is)
			}
			prefix := from + ": "
			if from == Stdin {
				prefix = "<stdin>: "
			}
			if text := err.Error(); !strings.HasPrefix(text, prefix) || !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Errorf("%s as %s: error %q, want %q in it", c.name, from, text, c.want)
			}
		}
	}
	if _, err := OpenFiles(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "open ") {
		t.Errorf("absent: %v", err)
	}
	if _, err := OpenFiles(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: %v", err)
	}
}

// TestGoodPrefix reads traces that are cut off, also within their packing: whole records
// come first, then one error.
func TestGoodPrefix(t *testing.T) {
	net := netTrace(sessionStart, 1, 2, 3)
	var many []int64
	for i := range int64(2000) {
		many = append(many, i%1000)
	}
	big := etlTrace(t, sessionStart, many...)
	packed := gzipped(big)
	archive := zipped("t", net)
	for _, c := range []struct {
		name  string
		data  []byte
		least int
		most  int
		want  string
	}{
		{"no end marker", net[:len(net)-1], 3, 3, "no end marker"},
		{"in the last event", net[:len(net)-4], 2, 2, "cut off"},
		{"in gzip", gzipped(net[:len(net)-4]), 2, 2, "cut off"},
		{"in zip", zipped("t", net[:len(net)-4]), 2, 2, "cut off"},
		{"etl", big[:len(big)/2+100], 500, 1500, "truncated"},
		{"etl in a gzip that is cut off", packed[:len(packed)/2], 100, 1999, "unexpected EOF"},
		{"wrong checksum", append(gzipped(net)[:len(gzipped(net))-8], 1, 2, 3, 4, 0, 0, 0, 0), 3, 3, "checksum"},
		{"no checksum", gzipped(net)[:len(gzipped(net))-8], 3, 3, "unexpected EOF"},
		{"garbage behind gzip", append(gzipped(net), "garbage, and more of it"...), 3, 3, "invalid header"},
		{"wrong checksum in zip", bytes.Replace(archive, binary.LittleEndian.AppendUint32(nil, checksum(t, archive)), []byte("abcd"), -1), 3, 3, "checksum"},
	} {
		sources, err := OpenFiles(write(t, "file", c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, errs := ids(sources[0].Next)
		if len(got) < c.least || len(got) > c.most {
			t.Errorf("%s: %d events, want %d to %d", c.name, len(got), c.least, c.most)
		}
		if len(errs) == 0 || !strings.Contains(errors.Join(errs...).Error(), c.want) {
			t.Errorf("%s: errors %v, want %q", c.name, errs, c.want)
		}
		if facts := factOf(sources[0], "endedCleanly"); facts != false {
			t.Errorf("%s: ended cleanly: %v", c.name, facts)
		}
		sources[0].Close()
	}
}

func checksum(t *testing.T, archive []byte) uint32 {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	return z.File[0].CRC32
}

func factOf(s *File, key string) any {
	for _, f := range s.Facts() {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// TestBombs unpacks files that are all but empty.
func TestBombs(t *testing.T) {
	// An .etl file that is followed by a lot of nothing.
	file := append(etlTrace(t, sessionStart, 1, 2), make([]byte, 8<<20)...)
	net := append(netTrace(sessionStart, 1, 2)[:150], make([]byte, 8<<20)...)
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"etl.gz", gzipped(file)},
		{"etl.zip", zipped("bomb", file)},
		{"nettrace.gz", gzipped(net)},
		{"two in a zip", zipped("a", file[:len(file)/2], "b", file[:len(file)/2])},
	} {
		path := write(t, "bomb", c.data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sources, err := OpenFiles(path, WithUnpackLimit(1<<20))
		var errs []error
		if err == nil {
			for _, s := range sources {
				_, more := ids(s.Next)
				errs = append(errs, more...)
				s.Close()
			}
			err = errors.Join(errs...)
		}
		runtime.ReadMemStats(&after)
		if c.name == "nettrace.gz" { // the stream is damaged before the limit
			if err == nil {
				t.Errorf("%s: no error", c.name)
			}
		} else if !errors.Is(err, ErrUnpack) {
			t.Errorf("%s: error %v, want %v", c.name, err, ErrUnpack)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%s: %d bytes allocated", c.name, grown)
		}
		if sources, err := OpenFiles(path); err == nil {
			for _, s := range sources {
				if _, errs := ids(s.Next); errors.Is(errors.Join(errs...), ErrUnpack) {
					t.Errorf("%s: refused without a limit: %v", c.name, errs)
				}
				s.Close()
			}
		}
	}
}

// TestAllowance checks how much a file may unpack to by itself.
func TestAllowance(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		a    allowance
		want int64
	}{
		{allowance{size: 0}, 256 * mega},
		{allowance{size: 4 * mega}, (256 + 1000) * mega},
		{allowance{size: 1 << 50}, 64 << 30},
		{allowance{size: 1 << 50, limit: 5}, 5},
		{allowance{packed: &counter{n: 8 * mega}}, (256 + 2000) * mega},
	} {
		if got := c.a.most(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.a, got, c.want)
		}
	}
	u := &unpacker{strings.NewReader("0123456789"), &allowance{limit: 4}}
	if b, err := io.ReadAll(u); string(b) != "0123" || !errors.Is(err, ErrUnpack) {
		t.Errorf("read %q, %v", b, err)
	}
	u = &unpacker{strings.NewReader("0123"), &allowance{limit: 4}}
	if b, err := io.ReadAll(u); string(b) != "0123" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
}

// TestSpoolLeavesNothing checks that temporary files are gone after Close.
func TestSpoolLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, temp)
	}
	path := write(t, "a.etl.gz", gzipped(etlTrace(t, sessionStart, 1)))
	sources := testio.Open(t, OpenFiles, path)
	if err := sources[0].Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenFiles(write(t, "b.gz", gzipped(append([]byte("junk"), make([]byte, 500)...)))); err == nil {
		t.Error("no error")
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%d files left behind", len(left))
	}
}

func TestOpenAll(t *testing.T) {
	second := sessionStart.Add(2 * time.Second)
	a := write(t, "a", netTrace(sessionStart, 1, 10, 2500))
	b := write(t, "b", netTrace(second, 1, 400, 700))
	c := write(t, "c.etl", etlTrace(t, sessionStart, 5, 20))
	d := write(t, "d.etl", etlTrace(t, second, 6, 600))
	for _, test := range []struct {
		name  string
		paths []string
		ids   []uint16
		ms    []int64
	}{
		{"one", []string{b}, []uint16{1, 400, 700}, []int64{1, 400, 700}},
		{"streams", []string{b, a}, []uint16{1, 10, 1, 400, 2500, 700}, []int64{1, 10, 2001, 2400, 2500, 2700}},
		{"both formats", []string{a, c}, []uint16{1, 5, 10, 20, 2500}, []int64{1, 5, 10, 20, 2500}},
		{"two sessions", []string{d, c}, []uint16{5, 20, 6, 600}, []int64{5, 20, 2006, 2600}},
		{"equal ones", []string{a, write(t, "a2", netTrace(sessionStart, 1, 10, 2500))}, []uint16{1, 1, 10, 10, 2500, 2500}, []int64{1, 1, 10, 10, 2500, 2500}},
	} {
		tl := testio.Open(t, OpenAll, test.paths)
		var ms []int64
		got, errs := ids(func(rec *etw.Record) error {
			err := tl.Next(rec)
			at := time.Duration(0)
			if err == nil {
				at = tl.Elapsed(rec)
			}
			if err == nil && rec.Kind == etw.KindManifest {
				ms = append(ms, at.Milliseconds())
				if want := sessionStart.Add(at); test.name != "one" && rec.Time().Sub(want).Abs() > time.Microsecond {
					t.Errorf("%s: event %d at %v, want %v", test.name, rec.ID, rec.Time(), want)
				}
			}
			return err
		})
		if len(errs) > 0 || !sameIDs(got, test.ids...) {
			t.Errorf("%s: events %v, want %v; errors %v", test.name, got, test.ids, errs)
		}
		for i := range ms {
			if ms[i] != test.ms[i] {
				t.Errorf("%s: times %v, want %v", test.name, ms, test.ms)
				break
			}
		}
		if err := tl.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenAllErrors merges a trace that is cut off with one that is not.
func TestOpenAllErrors(t *testing.T) {
	whole := netTrace(sessionStart, 1, 2, 3)
	a, b := write(t, "a", whole[:len(whole)-4]), write(t, "b", netTrace(sessionStart, 4, 5))
	tl := testio.Open(t, OpenAll, []string{a, b})
	got, errs := ids(tl.Next)
	tl.Close()
	if !sameIDs(got, 1, 2, 4, 5) {
		t.Errorf("events %v", got)
	}
	if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), a+": offset ") {
		t.Errorf("errors %v", errs)
	}
	if _, err := OpenAll([]string{a, filepath.Join(t.TempDir(), "absent")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	// Of several .etl files each fault names its own.
	good := etlTrace(t, sessionStart, 1, 2)
	c := write(t, "c.etl", good)
	d := write(t, "d.etl", good[:len(good)-4000])
	tl = testio.Open(t, OpenAll, []string{c, d})
	_, errs = ids(tl.Next)
	if len(errs) == 0 || !strings.HasPrefix(errs[0].Error(), d+": ") {
		t.Errorf("errors %v, want one of %s", errs, d)
	}
	tl.Close()
}

// TestFacts checks that formats tell the facts that info promises.
func TestFacts(t *testing.T) {
	both := []string{"processors", "pointerSize", "clockFrequency", "start", "end", "durationMs", "lost", "endedCleanly"}
	for _, c := range []struct {
		data []byte
		keys []string
	}{
		{netTrace(sessionStart, 1), append([]string{"pid", "bytes", "sequencePoints"}, both...)},
		{etlTrace(t, sessionStart, 1), append([]string{"session", "mode", "compression", "os", "clock", "boot", "bufferSize", "buffers", "lostBuffers"}, both...)},
		{gzipped(netTrace(sessionStart, 1)), append([]string{"packing"}, both...)},
	} {
		sources := testio.Open(t, OpenFiles, write(t, "f", c.data))
		s := sources[0]
		ids(s.Next)
		for _, key := range c.keys {
			if factOf(s, key) == nil {
				t.Errorf("%s: no fact %q", s.Format(), key)
			}
		}
		if factOf(s, "endedCleanly") != true {
			t.Errorf("%s did not end cleanly: %v", s.Format(), s.Facts())
		}
		s.Close()
	}
}

func TestStats(t *testing.T) {
	h := etltest.DefaultHeader()
	h.EventsLost, h.BuffersLost = 5, 2
	b := testio.Encoded(t, etltest.File, h)
	sources := testio.Open(t, OpenFiles, write(t, "lost.etl", b))
	defer sources[0].Close()
	ids(sources[0].Next)
	if s := sources[0].Stats(); s.Lost != 5 || s.LostBuffers != 2 || s.Undecodable != 0 {
		t.Errorf("%+v", s)
	}
}

// FuzzOpen opens whatever it is given, directly and from a stream. Neither may
// panic, hang, or unpack more than the limit.
func FuzzOpen(f *testing.F) {
	net, file := netTrace(sessionStart, 1, 2), etlTrace(f, sessionStart, 1, 2)
	for _, seed := range [][]byte{nil, net, file[:2000], gzipped(net), gzipped(file), zipped("n", net, "e", file), zipped("x", []byte("y")), gzipped(make([]byte, 1<<16))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		opts := newOptions([]Option{WithUnpackLimit(limit)})
		for _, open := range []func(o *opening) ([]*File, error){
			func(o *opening) ([]*File, error) { return o.file(bytes.NewReader(data), int64(len(data))) },
			func(o *opening) ([]*File, error) { return o.stream(bytes.NewReader(data)) },
		} {
			o := &opening{options: opts, name: "fuzz", size: int64(len(data))}
			sources, err := open(o)
			if err != nil {
				_ = inFile("fuzz", err).Error()
				o.close()
			}
			for _, s := range sources {
				if err == nil {
					ids(s.Next)
					s.Facts()
					s.Progress()
				}
				s.Close()
			}
			if o.allowed != nil && o.allowed.unpacked > limit {
				t.Fatalf("unpacked %d bytes", o.allowed.unpacked)
			}
		}
	})
}

// TestFlippedMagic flips every bit of the magic of a file. It is still opened, unless it
// looks like one of a version to come.
func TestFlippedMagic(t *testing.T) {
	for name, data := range map[string][]byte{"a.etl": etlTrace(t, sessionStart, 1, 2, 3), "a.nettrace": netTrace(sessionStart, 1, 2, 3)} {
		for bit := range 8 * min(len(data), magicSize) {
			flipped := bytes.Clone(data)
			flipped[bit/8] ^= 1 << (bit % 8)
			files, err := OpenFiles(write(t, name, flipped))
			if err != nil {
				if !errors.Is(err, nettrace.ErrVersion) {
					t.Errorf("%s: bit %d of byte %d: %v", name, bit%8, bit/8, err)
				}
				continue
			}
			if got, _ := ids(files[0].Next); len(got) < 3 {
				t.Errorf("%s: bit %d of byte %d: %d events", name, bit%8, bit/8, len(got))
			}
			files[0].Close()
		}
	}
}

// TestRestOfArchive: traces of an archive that are damaged, or too many, cost no
// others, and are reported.
func TestRestOfArchive(t *testing.T) {
	var many []any
	for i := range maxTraces + 6 {
		many = append(many, fmt.Sprintf("%d.nettrace", i), netTrace(sessionStart, int64(i)))
	}
	good, cut := netTrace(sessionStart, 1), netTrace(sessionStart, 1)[:60]
	for _, c := range []struct {
		name   string
		data   []byte
		traces int
		want   string
	}{
		{"too many", zipped(many...), maxTraces, "a.zip: the archive has 70 traces, of which 64 are read"},
		{"damaged first", zipped("bad", cut, "good", good), 1, "a.zip: bad: "},
		{"damaged last", zipped("good", good, "bad", cut, "worse", cut), 1, "unexpected EOF (and 1 more)"},
	} {
		files, err := OpenFiles(write(t, "a.zip", c.data))
		if err != nil || len(files) != c.traces {
			t.Errorf("%s: %d traces, %v", c.name, len(files), err)
			continue
		}
		var errs []error
		for _, f := range files {
			got, e := ids(f.Next)
			if len(got) != 1 {
				t.Errorf("%s: %s has %d events", c.name, f.Name(), len(got))
			}
			errs = append(errs, e...)
			f.Close()
		}
		if len(errs) != 1 || !errors.Is(errs[0], etw.ErrIncomplete) || !strings.Contains(errs[0].Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, errs, c.want)
		}
	}
}

// TestClosed: after Close there are no records in any format, and one error says so.
func TestClosed(t *testing.T) {
	net, file := netTrace(sessionStart, 1, 2, 3), etlTrace(t, sessionStart, 1, 2, 3)
	for name, paths := range map[string][]string{
		"nettrace": {write(t, "a", net)},
		"etl":      {write(t, "b", file)},
		"gzip":     {write(t, "c", gzipped(net))},
		"merged":   {write(t, "d", net), write(t, "e", file)},
	} {
		for read := range 2 {
			tr := testio.Open(t, OpenAll, paths)
			var rec etw.Record
			if read > 0 {
				if err := tr.Next(&rec); err != nil {
					t.Fatal(err)
				}
			}
			if err := tr.Close(); err != nil {
				t.Errorf("%s: closing: %v", name, err)
			}
			for range 2 {
				if err := tr.Next(&rec); !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%s, after %d records and Close: %v", name, read, err)
				}
			}
			if err := tr.Close(); err != nil {
				t.Errorf("%s: closing again: %v", name, err)
			}
		}
	}
}

// TestTwice: a file counts once, whatever it is called.
func TestTwice(t *testing.T) {
	net := netTrace(sessionStart, 1, 2)
	a, b := write(t, "a", net), write(t, "b", net)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(a, link); err != nil {
		t.Skip(err)
	}
	for _, paths := range [][]string{{a, a}, {a, b, link}} {
		if _, err := OpenAll(paths); !errors.Is(err, ErrTwice) || !strings.Contains(err.Error(), paths[len(paths)-1]) {
			t.Errorf("%v: %v", paths, err)
		}
	}
	tr := testio.Open(t, OpenAll, []string{a, b})
	tr.Close()
}

// TestContext: the context ends reading, also before the first record.
func TestContext(t *testing.T) {
	net, file := netTrace(sessionStart, 1, 2), etlTrace(t, sessionStart, 1, 2)
	for name, data := range map[string][]byte{"nettrace": net, "etl": file, "gzip": gzipped(file), "zip": zipped("n", net, "e", file)} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tr, err := Open(write(t, name, data), WithContext(ctx))
		if err == nil {
			var rec etw.Record
			err = tr.Next(&rec)
			tr.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEncrypted: an encrypted file is not taken for a trace.
func TestEncrypted(t *testing.T) {
	archive := zipped("t", netTrace(sessionStart, 1))
	at := bytes.Index(archive, []byte("PK\x01\x02"))
	archive[at+8] |= 1
	if _, err := Open(write(t, "z", archive)); err == nil || !strings.Contains(err.Error(), "t: it is encrypted") {
		t.Error(err)
	}
}
