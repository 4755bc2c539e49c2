package etl_test

import (
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A largeFile is an .etl file that is made up as it is read: the buffer of the
// header, a hole of zeros, and full buffers of records of one size, by turns of
// each processor.
type largeFile struct {
	header  []byte
	buffer  []byte // a template
	hole    int64
	buffers int64
	first   int64 // time stamp
	cpus    int64
	perFile int64
}

const largeRecord = 128

func newLargeFile(tb testing.TB, bufferSize uint32, cpus uint32, hole, size int64) (*largeFile, etl.Header) {
	h := etltest.DefaultHeader()
	h.BufferSize, h.Processors = bufferSize, cpus
	r := event(&h, 0, 0, 0)
	r.Payload = make([]byte, largeRecord-0x50)
	var records []*etw.Record
	for range (bufferSize - 0x48) / largeRecord {
		records = append(records, r)
	}
	data := file(tb, h, records...)
	f := &largeFile{header: data[:bufferSize], buffer: data[bufferSize:], hole: hole, first: h.Clock.Origin, cpus: int64(cpus)}
	f.perFile = int64(len(records))
	f.buffers = (size - hole - int64(bufferSize)) / int64(bufferSize)
	setBuffersWritten(f.header, int(1+f.buffers))
	return f, h
}

func (f *largeFile) size() int64 {
	return int64(len(f.header)) + f.hole + f.buffers*int64(len(f.buffer))
}

func (f *largeFile) records() int64 { return f.buffers * f.perFile }

// ReadAt makes the bytes at off. Within a buffer, records are one tick apart for each
// processor; buffers of all processors overlap.
func (f *largeFile) ReadAt(p []byte, off int64) (n int, err error) {
	size := int64(len(f.buffer))
	for n < len(p) {
		at := off + int64(n)
		if at >= f.size() {
			return n, io.EOF
		}
		switch begin := int64(len(f.header)) + f.hole; {
		case at < int64(len(f.header)):
			n += copy(p[n:], f.header[at:])
		case at < begin:
			k := min(int64(len(p)-n), begin-at)
			clear(p[n : n+int(k)])
			n += int(k)
		default:
			i := (at - begin) / size
			from := (at - begin) % size
			k := copy(p[n:], f.buffer[from:])
			f.patch(p[n:n+k], i, from)
			n += k
		}
	}
	return n, nil
}

// patch puts the differences from the template into the part of buffer i that begins at
// from.
func (f *largeFile) patch(p []byte, i, from int64) {
	put := func(at int64, v []byte) {
		for j, b := range v {
			if k := at + int64(j) - from; k >= 0 && k < int64(len(p)) {
				p[k] = b
			}
		}
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(i+1))
	put(0x18, b[:])
	put(0x28, []byte{byte(i % f.cpus), 0})
	turn := i / f.cpus * f.perFile
	first := max(0, (from-0x48)/largeRecord)
	for j := first; j < f.perFile && 0x48+j*largeRecord < from+int64(len(p)); j++ {
		binary.LittleEndian.PutUint64(b[:], uint64(f.first+(turn+j)*f.cpus+i%f.cpus))
		put(0x48+j*largeRecord+0x10, b[:])
	}
}

// TestMemory reads a file of 1 GiB: the memory does not depend on its size.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 1 GiB")
	}
	const cpus, bufferSize = 8, 64 << 10
	f, _ := newLargeFile(t, bufferSize, cpus, 0, 1<<30)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := etl.NewReader(f, f.size(), etl.WithoutSchemas(), etl.WithoutAttribution())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rec etw.Record
	records, peak, last := int64(0), uint64(0), int64(0)
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Timestamp < last {
			t.Fatalf("record %d is out of order", records)
		}
		last = rec.Timestamp
		records++
		if records%100_000 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse+now.StackInuse)
		}
	}
	if want := f.records() + 1; records != want {
		t.Errorf("%d records, want %d", records, want)
	}
	used := int64(peak) - int64(before.HeapInuse+before.StackInuse)
	t.Logf("%d MiB, %d records: %.1f MiB of memory", f.size()>>20, records, float64(used)/(1<<20))
	if limit := int64(64<<20 + cpus*bufferSize); used > limit {
		t.Errorf("%d MiB of memory, want at most %d", used>>20, limit>>20)
	}
}

// TestOver4GiB reads buffers that lie beyond 4 GiB, behind a hole.
func TestOver4GiB(t *testing.T) {
	const bufferSize = 1 << 20
	f, _ := newLargeFile(t, bufferSize, 4, 5000*bufferSize, 5020*bufferSize)
	r, err := etl.NewReader(f, f.size())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := readAll(r)
	var damage *etw.IncompleteError
	if s := r.Stats(); s.UnwrittenBytes != 5000*bufferSize || s.UnreadBytes != 0 {
		t.Errorf("%d bytes unwritten, %d unread", s.UnwrittenBytes, s.UnreadBytes)
	}
	if !asDamage(err, &damage) || damage.Count != 1 {
		t.Errorf("error %v, want one damage: zeros between buffers", err)
	}
	if int64(len(all)) != f.records() {
		t.Errorf("%d records, want %d", len(all), f.records())
	}
}

func asDamage(err error, d **etw.IncompleteError) bool {
	e, ok := err.(*etw.IncompleteError)
	*d = e
	return ok
}
