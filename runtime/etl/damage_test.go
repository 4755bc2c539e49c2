package etl_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// damagedTrace returns a file of several buffers for one processor, and which
// records are in each buffer and where it lies.
func damagedTrace(t *testing.T, c etl.Compression) (data []byte, buffers []placedBuffer) {
	t.Helper()
	h := etltest.DefaultHeader()
	h.Compression, h.BufferSize = c, 4096
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	at := out.Len()
	for i := range uint32(6) {
		b := placedBuffer{at: at}
		for j := range uint32(20) {
			n := 100*i + j
			r := event(&h, 0, int64(n), n)
			r.Payload = append(r.Payload, bytes.Repeat([]byte{byte(n), byte(n * 7), byte(n * 13)}, 10)...)
			testio.Add(t, w, r)
			b.numbers = append(b.numbers, n)
		}
		if err := w.Flush(0); err != nil {
			t.Fatal(err)
		}
		at = out.Len()
		b.end = at
		buffers = append(buffers, b)
	}
	return out.Bytes(), buffers
}

type placedBuffer struct {
	at, end int
	numbers []uint32
}

func numbersOf(buffers ...placedBuffer) (all []uint32) {
	for _, b := range buffers {
		all = append(all, b.numbers...)
	}
	return all
}

func TestDamage(t *testing.T) {
	for _, test := range []struct {
		name       string
		compressed bool // applies to compressed files as well
		break_     func(data []byte, b []placedBuffer) []byte
		err        error
		lost       []int // buffers of which nothing is left
		cut        int   // buffer of which the beginning is left, or -1
	}{
		{"intact", true, func(d []byte, b []placedBuffer) []byte { return d }, nil, nil, -1},
		{"cut in a buffer", true, func(d []byte, b []placedBuffer) []byte { return d[:b[4].at+400] }, etl.ErrTruncated, []int{5}, 4},
		{"cut in a header", true, func(d []byte, b []placedBuffer) []byte { return d[:b[4].at+40] }, etl.ErrTruncated, []int{4, 5}, -1},
		{"cut between buffers", true, func(d []byte, b []placedBuffer) []byte { return d[:b[4].at] }, nil, []int{4, 5}, -1},
		{"zeros at the end", true, func(d []byte, b []placedBuffer) []byte { return append(d, make([]byte, 3*4096)...) }, nil, nil, -1},
		{"zeros in the middle", true, func(d []byte, b []placedBuffer) []byte {
			clear(d[b[2].at:b[2].end])
			return d
		}, etl.ErrHeader, []int{2}, -1},
		{"noise in the middle", true, func(d []byte, b []placedBuffer) []byte {
			for i := b[2].at; i < b[2].end; i++ {
				d[i] = byte(i*i>>3) | 0x80
			}
			return d
		}, etl.ErrHeader, []int{2}, -1},
		{"size of a buffer 0", true, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint32(d[b[2].at:], 0)
			return d
		}, etl.ErrHeader, nil, -1},
		{"size of a buffer too small", true, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint32(d[b[2].at:], 0x48+64)
			return d
		}, etl.ErrHeader, nil, -1},
		{"size of a buffer too large", true, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint32(d[b[2].at:], 5000)
			return d
		}, etl.ErrHeader, nil, -1},
		{"size of a buffer huge", true, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint32(d[b[2].at:], 0xfffffff0)
			return d
		}, etl.ErrHeader, nil, -1},
		{"size of the last but one beyond the end", true, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint32(d[b[4].at:], 4000)
			return d
		}, etl.ErrHeader, nil, -1},
		{"a record's mark", false, func(d []byte, b []placedBuffer) []byte {
			d[b[2].at+0x48+5*recordSize+3] = 0x55
			return d
		}, etl.ErrRecord, nil, 2},
		{"a record's size", false, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint16(d[b[2].at+0x48+5*recordSize:], 0xfff0)
			return d
		}, etl.ErrRecord, nil, 2},
		{"a record's size too small", false, func(d []byte, b []placedBuffer) []byte {
			binary.LittleEndian.PutUint16(d[b[2].at+0x48+5*recordSize:], 20)
			return d
		}, etl.ErrRecord, nil, 2},
	} {
		for _, c := range compressions {
			if c != etl.CompressionNone && !test.compressed {
				continue
			}
			data, buffers := damagedTrace(t, c)
			data = test.break_(data, buffers)
			r := newReader(t, data)
			records, err := readAll(r)
			if !errors.Is(err, test.err) {
				t.Errorf("%s, %v: error %v, want %v", test.name, c, err, test.err)
			}
			if test.err != nil {
				checkDamage(t, r, err)
			} else if s := r.Stats(); s.Damage.Count != 0 {
				t.Errorf("%s, %v: damages %v", test.name, c, s.Damage.Damages)
			}
			if err := r.Next(new(etw.Record)); err != io.EOF {
				t.Errorf("%s, %v: after the end: %v, want io.EOF", test.name, c, err)
			}
			var want []uint32
			for i, b := range buffers {
				if i != test.cut && !slices.Contains(test.lost, i) {
					want = append(want, b.numbers...)
				}
			}
			got := numbers(records)
			if test.cut >= 0 {
				// Of the buffer that is cut, the beginning is there.
				whole := buffers[test.cut].numbers
				kept := 0
				got = slices.DeleteFunc(got, func(n uint32) bool {
					if kept < len(whole) && n == whole[kept] {
						kept++
						return true
					}
					return false
				})
				if c == etl.CompressionNone && kept == 0 {
					t.Errorf("%s: nothing is left of the buffer that is cut", test.name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %v: (-want +got)\n%s", test.name, c, diff)
			}
		}
	}
}

// recordSize is that of the records of damagedTrace.
const recordSize = (0x50 + 4 + 30 + 7) &^ 7

func checkDamage(t *testing.T, r *etl.Reader, err error) {
	t.Helper()
	var all *etw.IncompleteError
	if !errors.As(err, &all) || all.Count == 0 || len(all.Damages) == 0 {
		t.Fatalf("error %v is no DamageError", err)
	}
	s := r.Stats()
	if s.Damage.Count != all.Count || s.Damage.Err() == nil {
		t.Errorf("statistics say %d damages, the error %d", s.Damage.Count, all.Count)
	}
	if d := all.Damages[0]; !strings.Contains(d.Error(), "offset") {
		t.Errorf("%v does not say where", d)
	}
}

// TestCompressedDamage breaks the compressed bytes of a buffer: its beginning is
// kept, other buffers are.
func TestCompressedDamage(t *testing.T) {
	for _, c := range compressions[1:] {
		data, buffers := damagedTrace(t, c)
		b := buffers[2]
		for i := b.end - 24; i < b.end; i++ {
			data[i] = 0xff
		}
		r := newReader(t, data)
		records, err := readAll(r)
		if !errors.Is(err, etl.ErrCompression) && !errors.Is(err, etl.ErrRecord) {
			t.Errorf("%v: error %v", c, err)
		}
		seen := make(map[uint32]bool)
		for _, rec := range records {
			seen[number(rec)] = true
		}
		for _, n := range numbersOf(append(slices.Clone(buffers[:2]), buffers[3:]...)...) {
			if !seen[n] {
				t.Errorf("%v: record %d of another buffer is lost", c, n)
			}
		}
		if !seen[b.numbers[0]] {
			t.Errorf("%v: the beginning of the buffer is lost", c)
		}
	}
}

// TestMissingBuffers cuts a file between two buffers: only the number in its header
// tells that there were more.
func TestMissingBuffers(t *testing.T) {
	for _, test := range []struct {
		mode    etl.LogFileMode
		maximum uint32 // of the file's size
		counts  bool
	}{
		{etl.ModeSequential, 0, true},
		{etl.ModeSequential, 1, true},
		{etl.ModeCircular, 0, false},
		{etl.ModeCircular, 1, true}, // MiB: it has not come round yet
		{etl.ModeCircular | etl.ModeKilobytes, 1, false},
		{etl.ModeCircular | etl.ModeKilobytes, 1000, true},
		{etl.ModeNewFile, 1, true},
		{etl.ModeNewFile | etl.ModeKilobytes, 1, false}, // files before have the others
		{etl.ModeBuffering, 1, false},
	} {
		data, buffers := damagedTrace(t, etl.CompressionXpress)
		const written, mode, maximum = 0x48 + 0x20 + 0x24, 0x48 + 0x20 + 0x20, 0x48 + 0x20 + 0x1c
		binary.LittleEndian.PutUint32(data[written:], uint32(len(buffers)+1)) // and the header's
		binary.LittleEndian.PutUint32(data[mode:], uint32(test.mode|etl.ModeCompressed))
		binary.LittleEndian.PutUint32(data[maximum:], test.maximum)
		for i, b := range buffers {
			want := int64(0)
			if test.counts {
				want = int64(len(buffers) - 1 - i)
			}
			r := newReader(t, data[:b.end])
			_, err := readAll(r)
			if got := r.Stats().MissingBuffers; got != want {
				t.Errorf("%v: after %d buffers: %d are missing, want %d", test.mode, i+1, got, want)
			}
			if errors.Is(err, etl.ErrMissing) != (want > 0) || errors.Is(err, etw.ErrIncomplete) != (want > 0) {
				t.Errorf("%v: after %d buffers: error %v", test.mode, i+1, err)
			}
		}
	}
}

// TestEveryCut cuts a file at every byte, or at a share of them: every record before the
// cut is there.
func TestEveryCut(t *testing.T) {
	for _, c := range compressions {
		data, buffers := damagedTrace(t, c)
		all := numbersOf(buffers...)
		for cut := buffers[3].at; cut <= buffers[4].end; cut++ {
			atEdge := cut == buffers[3].at || cut == buffers[3].end || cut == buffers[4].end
			if !atEdge && cut%corpus.Every(7) != 0 {
				continue
			}
			records, err := readAll(newReader(t, data[:cut]))
			got := numbers(records)
			whole := 3
			if cut >= buffers[3].end {
				whole = 4
			}
			if cut >= buffers[4].end {
				whole = 5
			}
			sound := len(numbersOf(buffers[:whole]...))
			if c == etl.CompressionNone && whole < 5 {
				sound += min(20, max(0, (cut-buffers[whole].at-0x48)/recordSize))
			}
			if len(got) < sound || !slices.Equal(got, all[:len(got)]) {
				t.Fatalf("%v: cut at %d: %d records, want at least %d", c, cut, len(got), sound)
			}
			if atEdge && err != nil {
				t.Errorf("%v: cut between buffers: %v", c, err)
			} else if !atEdge && err == nil && len(got) < len(all[:sound+1]) && c != etl.CompressionNone {
				t.Errorf("%v: cut at %d: no error", c, cut)
			}
		}
	}
}

func TestNotETL(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":    nil,
		"short":    make([]byte, 40),
		"zeros":    make([]byte, 4096),
		"text":     bytes.Repeat([]byte("This is not a trace. "), 100),
		"manifest": []byte("<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"><instrumentation>"),
	} {
		if _, err := etl.NewReader(bytes.NewReader(data), int64(len(data))); !errors.Is(err, etl.ErrNotETL) {
			t.Errorf("%s: error %v, want ErrNotETL", name, err)
		}
	}
}

// TestNoLogFileHeader: without it times are unknown, but the records are there.
func TestNoLogFileHeader(t *testing.T) {
	data, buffers := damagedTrace(t, etl.CompressionNone)
	data[0x48+7] = 9 // another group
	records, err := readAll(newReader(t, data))
	if !errors.Is(err, etl.ErrHeader) {
		t.Errorf("error %v, want ErrHeader", err)
	}
	records = slices.DeleteFunc(records, func(r *etw.Record) bool { return r.Kind == etw.KindClassic })
	if diff := cmp.Diff(numbersOf(buffers...), numbers(records)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestReadError keeps the readable part where the file's reader fails.
func TestReadError(t *testing.T) {
	data, buffers := damagedTrace(t, etl.CompressionNone)
	src := failingReader{bytes.NewReader(data), int64(buffers[2].at) + 0x100}
	r, err := etl.NewReader(src, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	records, err := readAll(r)
	if !errors.Is(err, errDisk) {
		t.Errorf("error %v, want that of the reader", err)
	}
	if diff := cmp.Diff(numbersOf(buffers[:2]...), numbers(records)[:40]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

var errDisk = errors.New("disk error")

// A failingReader fails to read beyond an offset.
type failingReader struct {
	io.ReaderAt
	from int64
}

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		n, _ := f.ReaderAt.ReadAt(p[:max(0, min(int64(len(p)), f.from-off))], off)
		return n, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestClose(t *testing.T) {
	data, _ := damagedTrace(t, etl.CompressionXpress)
	r := newReader(t, data)
	var rec etw.Record
	if err := r.Next(&rec); err != nil {
		t.Fatal(err)
	}
	for range r.Records() {
		break // leaves the reader where it is
	}
	if got := r.Stats().Records; got != 2 {
		t.Errorf("%d records, want 2", got)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := r.Next(&rec); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Next after Close: %v, want fs.ErrClosed", err)
	}
	for rec, err := range r.Records() {
		if rec != nil || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Records after Close: %v, %v", rec, err)
		}
	}
}

// TestDamageIsBounded: a trace of nothing but damage keeps a part of the places.
func TestDamageIsBounded(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 1024
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	for range 1000 {
		w.Raw(0, []byte("\x10\x00\x00\x00not a record"))
		w.Flush(0)
	}
	r := newReader(t, out.Bytes())
	_, err := readAll(r)
	s := r.Stats()
	if !errors.Is(err, etl.ErrRecord) || s.Damage.Count != 1000 || len(s.Damage.Damages) != 100 || s.Undecodable != 1000 {
		t.Errorf("%d damages, %d kept, %d undecodable, error %v", s.Damage.Count, len(s.Damage.Damages), s.Undecodable, err)
	}
}

// TestBuffersWithoutRecords: buffers of some types hold none, and so their contents are no
// damage. If they do hold records, the type is wrong.
func TestBuffersWithoutRecords(t *testing.T) {
	for _, c := range compressions {
		for _, content := range []string{"records", "none"} {
			data, buffers := damagedTrace(t, c)
			want := numbersOf(buffers...)
			for i, typ := range []byte{3, 6, 7} {
				data[buffers[i].at+0x36] = typ
				if content == "none" {
					clear(data[buffers[i].at+0x48 : buffers[i].end])
					want = numbersOf(buffers[3:]...)
				}
			}
			records, err := readAll(newReader(t, data))
			if err != nil {
				t.Errorf("%v, %s: %v", c, content, err)
			}
			if diff := cmp.Diff(want, numbers(records)); diff != "" {
				t.Errorf("%v, %s: (-want +got)\n%s", c, content, diff)
			}
		}
	}
}

// TestFilledSize: a buffer that is said to be filled less than it is loses
// nothing, and says so.
func TestFilledSize(t *testing.T) {
	for _, c := range compressions {
		data, buffers := damagedTrace(t, c)
		at := buffers[2].at
		whole := binary.LittleEndian.Uint32(data[at+0x30:])
		for _, filled := range []uint32{0, 1, 0x47, 0x48, 0x49, 0x50, 0x100, 0x101, whole - 8, whole - 1} {
			binary.LittleEndian.PutUint32(data[at+0x30:], filled)
			records, err := readAll(newReader(t, data))
			if !errors.Is(err, etl.ErrHeader) {
				t.Errorf("%v: %d of %d bytes: error %v", c, filled, whole, err)
			}
			if diff := cmp.Diff(numbersOf(buffers...), numbers(records)); diff != "" {
				t.Errorf("%v: %d of %d bytes: (-want +got)\n%s", c, filled, whole, diff)
			}
		}
		if c == etl.CompressionNone {
			continue
		}
		// The other member may be as wrong. Packed data ends by itself.
		saved := binary.LittleEndian.Uint32(data[at+4:])
		binary.LittleEndian.PutUint32(data[at+4:], 1<<20)
		for _, filled := range []uint32{whole, 0x101} {
			binary.LittleEndian.PutUint32(data[at+0x30:], filled)
			records, err := readAll(newReader(t, data))
			if (err == nil) != (filled == whole) {
				t.Errorf("%v: %d of %d bytes, and nonsense: error %v", c, filled, whole, err)
			}
			if diff := cmp.Diff(numbersOf(buffers...), numbers(records)); diff != "" {
				t.Errorf("%v: %d of %d bytes, and nonsense: (-want +got)\n%s", c, filled, whole, diff)
			}
		}
		binary.LittleEndian.PutUint32(data[at+4:], saved)
	}
}

// TestFilledSizeTwice: where no other member of the header tells, the records do.
func TestFilledSizeTwice(t *testing.T) {
	data, buffers := damagedTrace(t, etl.CompressionNone)
	at := buffers[2].at
	first := uint32(binary.LittleEndian.Uint16(data[at+0x48:]))
	for _, filled := range []uint32{0x48, 0x48 + (first+7)&^7} {
		binary.LittleEndian.PutUint32(data[at+0x30:], filled)
		binary.LittleEndian.PutUint32(data[at+4:], filled)
		records, err := readAll(newReader(t, data))
		if !errors.Is(err, etl.ErrHeader) {
			t.Errorf("%d bytes twice: error %v", filled, err)
		}
		if diff := cmp.Diff(numbersOf(buffers...), numbers(records)); diff != "" {
			t.Errorf("%d bytes twice: (-want +got)\n%s", filled, diff)
		}
	}
}

// TestUndeclaredCompression: the headers of buffers tell of it, too, and their
// data which algorithm it is.
func TestUndeclaredCompression(t *testing.T) {
	const mode, state = 0x48 + 0x20 + 0x20, 0x2c
	data, buffers := damagedTrace(t, etl.CompressionXpress)
	binary.LittleEndian.PutUint32(data[mode:], uint32(etl.ModeSequential))
	records, err := readAll(newReader(t, data))
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(numbersOf(buffers...), numbers(records)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The data themselves show the algorithm, where the header has another.
	binary.LittleEndian.PutUint32(data[mode:], uint32(etl.ModeSequential|etl.ModeCompressed))
	for _, algorithm := range []byte{77, byte(etl.CompressionLZNT1)} {
		data[state] = algorithm
		records, err = readAll(newReader(t, data))
		if !errors.Is(err, etl.ErrHeader) || !strings.Contains(err.Error(), "is XPRESS") {
			t.Errorf("algorithm %d: error %v", algorithm, err)
		}
		if diff := cmp.Diff(numbersOf(buffers...), numbers(records)); diff != "" {
			t.Errorf("algorithm %d: (-want +got)\n%s", algorithm, diff)
		}
	}
	// Unless they make no sense by any.
	data[state] = 77
	for _, b := range buffers {
		for i := b.at + 0x48; i < b.end; i++ {
			data[i] = 0x55
		}
	}
	r := newReader(t, data)
	records, err = readAll(r)
	if err == nil || !strings.Contains(err.Error(), "unknown algorithm 77") || len(records) != 0 {
		t.Errorf("%d records, error %v", len(records), err)
	}
	if s := r.Stats(); s.Damage.Count != len(buffers) || s.UnreadBytes == 0 {
		t.Errorf("statistics %+v", s)
	}
}

// TestOutOfOrder: a record that is much older than the buffers before it is
// delivered and counted.
func TestOutOfOrder(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 4096
	var out bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &out, h)
	var err error
	for i, after := range []int64{1e7, 2e7, 3e7, 5, 4e7} { // seconds, and the fourth at once
		err = errors.Join(err, w.Write(event(&h, 0, after, uint32(i))))
		if i == 1 {
			err = errors.Join(err, w.Flush(0))
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, out.Bytes())
	got := numbers(mustReadAll(t, r))
	if len(got) != 5 || r.Stats().OutOfOrder == 0 {
		t.Errorf("records %v, %d out of order", got, r.Stats().OutOfOrder)
	}
}

// TestSurplus: a file behind another, or a buffer twice, does not pass for one
// trace.
func TestSurplus(t *testing.T) {
	h := etltest.DefaultHeader()
	whole := file(t, h, event(&h, 0, 0, 0), event(&h, 1, 0, 0))
	for name, data := range map[string][]byte{
		"two files":      slices.Concat(whole, whole),
		"a buffer twice": slices.Concat(whole, whole[h.BufferSize:2*h.BufferSize]),
	} {
		_, err := readAll(newReader(t, data))
		if !errors.Is(err, etl.ErrSurplus) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
