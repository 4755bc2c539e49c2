package etl_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A rawBuffer is a buffer that need not be a sound one.
type rawBuffer struct {
	size, extent uint32 // 0 for that of the body
	processor    int
	compressed   bool
	body         []byte
}

func (b rawBuffer) append(p []byte, sequence int) []byte {
	whole := uint32(0x48 + len(b.body))
	if b.size == 0 {
		b.size = whole
	}
	if b.extent == 0 {
		b.extent = whole
	}
	h := make([]byte, 0x48)
	le := binary.LittleEndian
	le.PutUint32(h, b.size)
	le.PutUint32(h[0x04:], b.extent)
	le.PutUint64(h[0x18:], uint64(sequence))
	le.PutUint16(h[0x28:], uint16(b.processor))
	le.PutUint16(h[0x2a:], 1)
	le.PutUint32(h[0x2c:], 3)
	le.PutUint32(h[0x30:], b.extent)
	h[0x34] = 0x20
	if b.compressed {
		h[0x34] |= 0x40
	}
	return append(append(p, h...), b.body...)
}

// rawFile returns a file of a session with the given size of buffers, in which
// the buffers are as they are.
func rawFile(tb testing.TB, bufferSize uint32, buffers ...rawBuffer) []byte {
	tb.Helper()
	h := etltest.DefaultHeader()
	h.BufferSize, h.Compression = bufferSize, etl.CompressionXpress
	data := file(tb, h)
	for i, b := range buffers {
		data = b.append(data, i+1)
	}
	setBuffersWritten(data, 1+len(buffers))
	return data
}

// sample is a record of 16 bytes, the smallest that have a time.
func sample(after int64) []byte {
	p := []byte("\x02\x00\x11\xc0\x10\x00\x2e\x0f")
	return binary.LittleEndian.AppendUint64(p, uint64(etltest.DefaultHeader().Clock.Origin+after))
}

// bomb is a compressed buffer of one record, over and over, up to the extent: the
// record, and one match.
func bomb(extent uint32, processor int, after int64) rawBuffer {
	body := binary.LittleEndian.AppendUint32(nil, 0x0000ffff) // 16 literals, then a match
	body = append(append(body, sample(after)...), 15<<3|7, 0, 15, 255, 0, 0)
	body = binary.LittleEndian.AppendUint32(body, extent-0x48-16-3)
	return rawBuffer{extent: extent, processor: processor, compressed: true, body: body}
}

// detours is a file in which the sizes of many headers lead to one place, where
// the search for the next begins.
func detours(tb testing.TB, n int) []byte {
	data := rawFile(tb, 16<<20)
	goal := len(data) + 80*n
	for i := range n {
		b := rawBuffer{size: uint32(goal - len(data)), extent: 0x50, body: make([]byte, 8)}
		data = b.append(data, i)
	}
	data = rawBuffer{size: uint32(80*n + 2048), extent: 0x50, body: bytes.Repeat([]byte{0xff, 0, 0, 0}, 20*n)}.append(data, n)
	return rawBuffer{body: make([]byte, 8)}.append(data, n+1)
}

// peak runs f and returns how much more memory it had in use than there was before, at most,
// without garbage.
func peak(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	before, most := sample[0].Value.Uint64(), uint64(0)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			}
		}
	})
	f()
	close(done)
	watch.Wait()
	return int64(most) - int64(before)
}

// A counted is a file of which it is known how many bytes were read, and at how many times.
type counted struct {
	r            io.ReaderAt
	bytes, reads atomic.Int64
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.bytes.Add(int64(n))
	c.reads.Add(1)
	return n, err
}

// TestCost: files that are made to cost time or memory cost no more than others
// of their size. Steps that are not linear in it would take hours, which the test's own limit
// ends.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 8 GB")
	}
	many := func(n int, each func(i int) rawBuffer) (all []rawBuffer) {
		for i := range n {
			all = append(all, each(i))
		}
		return all
	}
	oneTime := append(sample(0), sample(1<<40)...)
	tiny := bytes.Repeat([]byte("\x08\x00\x00\x90\x01\x00\x00\x00"), (64<<10-0x48)/8)
	for _, test := range []struct {
		name       string
		bufferSize uint32
		processors int
		data       []byte
		damaged    bool
	}{
		{"sizes that lead to one place", 16 << 20, 1, detours(t, 10000), true},
		{"buffers of more than any has", 16 << 20, 1, rawFile(t, 16<<20, many(100, func(i int) rawBuffer { return bomb(64<<20, 0, int64(i)) })...), true},
		{"large buffers of one record", 16 << 20, 1, rawFile(t, 16<<20, many(100, func(i int) rawBuffer { return bomb(16<<20, 0, int64(i)) })...), true},
		{"buffers of one record", 64 << 10, 1, rawFile(t, 64<<10, many(2000, func(i int) rawBuffer { return bomb(64<<10, 0, int64(i)) })...), true},
		{"buffers of one record, less dense", 64 << 10, 200, rawFile(t, 64<<10, many(2000, func(i int) rawBuffer { return bomb(0x48+763*16, i%200, 0) })...), false},
		{"small buffers of one time", 1 << 20, 200, rawFile(t, 1<<20, many(20000, func(i int) rawBuffer { return rawBuffer{processor: i % 200, body: oneTime} })...), false},
		{"small records", 64 << 10, 200, rawFile(t, 64<<10, many(40, func(i int) rawBuffer { return rawBuffer{processor: i, body: tiny} })...), false},
	} {
		var err error
		records := 0
		src := &counted{r: bytes.NewReader(test.data)}
		used := peak(func() {
			var r *etl.Reader
			if r, err = etl.NewReader(src, int64(len(test.data))); err != nil {
				return
			}
			defer r.Close()
			var rec etw.Record
			for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
				records++
			}
		})
		read, reads := src.bytes.Load(), src.reads.Load()
		t.Logf("%s: %d bytes, %d records: %d bytes in %d reads, %.1f MiB", test.name, len(test.data), records, read, reads, float64(used)/(1<<20))
		if errors.Is(err, etw.ErrIncomplete) != test.damaged || !test.damaged && err != io.EOF {
			t.Errorf("%s: error %v", test.name, err)
		}
		if limit := 16<<20 + 4*(int64(len(test.data))+int64(test.processors)*int64(test.bufferSize)); used > limit {
			t.Errorf("%s: %d KiB of memory, want at most %d", test.name, used>>10, limit>>10)
		}
		if most := int64(1<<20 + 8*len(test.data)); read > most || reads > most/16 {
			t.Errorf("%s: of %d bytes %d are read, %d times", test.name, len(test.data), read, reads)
		}
	}
}

// TestUnpackLimit: the unpacked size of compressed buffers is bounded by the size of the
// file, and more is a damage.
func TestUnpackLimit(t *testing.T) {
	h := etltest.DefaultHeader()
	h.Processors, h.Compression, h.BufferSize = 30, etl.CompressionXpress, 1<<20
	filling := event(&h, 0, 0, 0)
	filling.Payload = make([]byte, 60000)
	var records []*etw.Record
	for cpu := range 30 {
		for range 17 {
			r := *filling
			r.Processor = int32(cpu)
			records = append(records, &r)
		}
	}
	data := file(t, h, records...)
	r := newReader(t, data)
	var rec etw.Record
	err, unpacked := r.Next(&rec), int64(0)
	for ; err == nil; err = r.Next(&rec) {
		unpacked += int64(len(rec.Payload))
	}
	if !errors.Is(err, etl.ErrLimit) || !strings.Contains(err.Error(), "times its size") {
		t.Errorf("error %v", err)
	}
	if limit := int64(4<<20 + 128*len(data)); unpacked > limit || unpacked < limit/2 {
		t.Errorf("%d KiB unpack to %d MiB, want some %d", len(data)>>10, unpacked>>20, limit>>20)
	}
}
