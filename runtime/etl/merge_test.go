package etl_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

func TestOrder(t *testing.T) {
	for _, c := range compressions {
		for _, processors := range []uint32{1, 2, 7, 64} {
			h := etltest.DefaultHeader()
			h.Compression, h.Processors, h.BufferSize = c, processors, 4096
			ordered, written := randomTrace(&h, 3000)
			r := newReader(t, file(t, h, written...))
			got := mustReadAll(t, r)
			if diff := cmp.Diff(numbers(ordered), numbers(got)); diff != "" {
				t.Errorf("%v, %d processors: (-want +got)\n%s", c, processors, diff)
			}
			if s := r.Stats(); s.OutOfOrder != 0 || s.Records != int64(len(ordered))+1 {
				t.Errorf("%v, %d processors: %d records of %d, %d out of order", c, processors, s.Records, len(ordered)+1, s.OutOfOrder)
			}
		}
	}
}

// TestOrderOnDisk: the order of buffers in the file says nothing, as in circular
// files.
func TestOrderOnDisk(t *testing.T) {
	h := etltest.DefaultHeader()
	h.Mode, h.BufferSize, h.Processors = etl.ModeCircular, 4096, 3
	ordered, written := randomTrace(&h, 2000)
	data := file(t, h, written...)
	buffers := slices.Collect(slices.Chunk(data[4096:], 4096))
	slices.Reverse(buffers)
	turned := append(bytes.Clone(data[:4096]), bytes.Join(buffers, nil)...)
	got := mustReadAll(t, newReader(t, turned))
	if diff := cmp.Diff(numbers(ordered), numbers(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSharedBuffers: without buffers for each processor, the records in one are
// nearly in order only.
func TestSharedBuffers(t *testing.T) {
	h := etltest.DefaultHeader()
	h.Mode, h.BufferSize, h.Processors = etl.ModeNoPerProcessor, 4096, 1
	var records []*etw.Record
	var want []uint32
	for i := range 2000 {
		after := int64(i) * 100
		if i%5 == 0 {
			after += 350 // 35 microseconds
		}
		records = append(records, event(&h, 0, after, uint32(after)))
		want = append(want, uint32(after))
	}
	slices.Sort(want)
	r := newReader(t, file(t, h, records...))
	if diff := cmp.Diff(want, numbers(mustReadAll(t, r))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s := r.Stats(); s.OutOfOrder != 0 {
		t.Errorf("%d out of order", s.OutOfOrder)
	}
}

// openAll writes the files to a folder and opens them together.
func openAll(t *testing.T, files ...[]byte) *etl.Reader {
	t.Helper()
	var paths []string
	for i, data := range files {
		path := filepath.Join(t.TempDir(), string(rune('a'+i))+".etl")
		testio.Write(t, path, data)
		paths = append(paths, path)
	}
	r := testio.Open(t, etl.OpenAll, paths)
	t.Cleanup(func() { r.Close() })
	return r
}

func TestOneSessionInSeveralFiles(t *testing.T) {
	h := etltest.DefaultHeader()
	h.Processors = 4
	ordered, written := randomTrace(&h, 4000)
	parts := make([][]*etw.Record, 4)
	for _, r := range written {
		parts[r.Processor] = append(parts[r.Processor], r)
	}
	var files [][]byte
	for i, part := range parts {
		// Each file was opened a bit later, at which its own time stamps count from.
		own := h
		own.Clock.Start += etw.FileTime(i * 1e6)
		own.Clock.Origin += int64(i * 1e6)
		files = append(files, file(t, own, part...))
	}
	got := mustReadAll(t, openAll(t, files...))
	if diff := cmp.Diff(numbers(ordered), numbers(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, r := range got {
		if want := h.Start().Add(100 * time.Duration(ordered[i].Timestamp-h.Clock.Origin)); !r.Time().Equal(want) {
			t.Fatalf("record %d: time %v, want %v", i, r.Time(), want)
		}
	}

	// The order in which the files are given does not matter to times.
	times := make(map[uint32]time.Time)
	for _, r := range got {
		times[number(r)] = r.Time()
	}
	slices.Reverse(files)
	last := time.Time{}
	for _, r := range mustReadAll(t, openAll(t, files...)) {
		if !r.Time().Equal(times[number(r)]) || r.Time().Before(last) {
			t.Fatalf("files in reverse: record %d at %v after %v, want %v", number(r), r.Time(), last, times[number(r)])
		}
		last = r.Time()
	}
}

func TestSeveralSessions(t *testing.T) {
	a := etltest.DefaultHeader()
	b := a
	b.Clock.Frequency, b.Clock.Origin = 2630627, 17 // another machine
	b.Clock.Start += 1e7                            // 1 s later
	var inA, inB []*etw.Record
	for i := range uint32(10) {
		inA = append(inA, event(&a, 0, int64(i)*1e7, 2*i))
		inB = append(inB, event(&b, 0, int64(i)*b.Clock.Frequency-b.Clock.Frequency/2, 2*i+1))
	}
	r := openAll(t, file(t, a, inA...), file(t, b, inB...))
	want := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	got := mustReadAll(t, r)
	if diff := cmp.Diff(want, numbers(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i, rec := range got {
		if i > 0 && rec.Time().Before(got[i-1].Time()) {
			t.Errorf("record %d is before the one before it", i)
		}
		if rec.Timestamp != inA[0].Timestamp+int64(number(rec))/2*1e7 && number(rec)%2 == 0 {
			t.Errorf("record %d has the time stamp %d", i, rec.Timestamp)
		}
	}
	if h := r.Headers(); len(h) != 2 || h[1].Clock.Frequency != b.Clock.Frequency || r.Header().Start() != a.Start() {
		t.Errorf("headers %+v", h)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := etl.OpenAll(nil); err == nil {
		t.Error("opened nothing")
	}
	if _, err := etl.Open(filepath.Join(t.TempDir(), "none.etl")); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestOpenAllErrors: where one file is no trace, none stays open.
func TestOpenAllErrors(t *testing.T) {
	good, bad := filepath.Join(t.TempDir(), "good.etl"), filepath.Join(t.TempDir(), "bad.etl")
	if err := errors.Join(os.WriteFile(good, file(t, etltest.DefaultHeader()), 0o666), os.WriteFile(bad, []byte("bad"), 0o666)); err != nil {
		t.Fatal(err)
	}
	_, err := etl.OpenAll([]string{good, bad})
	if !errors.Is(err, etl.ErrNotETL) || !strings.Contains(err.Error(), "bad.etl") {
		t.Errorf("error %v, want one that names bad.etl", err)
	}
	if err := os.Remove(good); err != nil { // which Windows refuses for open files
		t.Error(err)
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}
