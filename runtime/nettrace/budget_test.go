package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// eventsOf returns the data of a block of compressed events.
func eventsOf(events ...[]byte) []byte {
	return append(bytes.Clone(blockHeader), slices.Concat(events...)...)
}

// amplifiers returns streams of some n bytes that are made to cost much more.
func amplifiers(n int) map[string][]byte {
	list := make(map[string][]byte)
	stream := func(name string, version int, write func(w *nettracetest.Writer)) {
		w := nettracetest.NewWriter(version, nettracetest.Trace{})
		w.Metadata(clrRow(1, 10))
		for w.Offset() < n {
			write(w)
		}
		w.End()
		list[name] = w.Bytes()
	}
	object := func(kind string, data []byte) func(w *nettracetest.Writer) {
		return func(w *nettracetest.Writer) { w.Object(kind, data) }
	}
	block := func(kind uint8, data []byte) func(w *nettracetest.Writer) {
		return func(w *nettracetest.Writer) { w.Block(kind, data) }
	}
	repeat := func(data []byte) []byte { return bytes.Repeat(data, 100_000/len(data)) }

	stream("events of 2 bytes", 4, object("EventBlock", eventsOf([]byte{0x01, 1, 1}, repeat([]byte{0, 0}))))
	var threads []byte
	for i := range 20_000 {
		threads = append(threads, 0x02, 0)
		threads = binary.AppendUvarint(threads, uint64(i))
		threads = append(threads, 0, 1)
	}
	stream("events of ever other threads", 4, object("EventBlock", eventsOf([]byte{0x01, 1, 1}, threads)))
	stream("two threads in turn", 4, object("EventBlock", eventsOf([]byte{0x01, 1, 1}, repeat([]byte{0x02, 0, 1, 0, 1, 0x02, 0, 2, 0, 1}))))
	stream("blocks of one event", 6, block(2, eventsOf([]byte{0x01, 1, 1})))
	stream("activities", 4, object("EventBlock", eventsOf([]byte{0x01, 1, 1}, repeat(append([]byte{0x10, 0}, make([]byte, 16)...)))))
	stream("empty stacks", 4, object("StackBlock", append(le(uint32(1), uint32(25_000)), make([]byte, 100_000)...)))
	stream("blocks of one stack", 6, block(5, le(uint32(1), uint32(1), uint32(0))))
	id := uint32(0)
	stream("metadata rows", 4, func(w *nettracetest.Writer) {
		rows := make([]nettracetest.Row, 1000)
		for i := range rows {
			id++
			rows[i] = nettracetest.Row{ID: id, Name: "E"}
		}
		w.Metadata(rows...)
	})
	fields := make([]nettracetest.Field, 1000)
	for i := range fields {
		fields[i].Type = 9
	}
	stream("metadata fields", 4, func(w *nettracetest.Writer) {
		id++
		w.Metadata(nettracetest.Row{ID: id, Fields: fields})
	})
	index := uint64(0)
	stream("threads", 6, func(w *nettracetest.Writer) {
		index++
		w.Threads(nettracetest.Thread{Index: index})
	})
	stream("keys of threads", 6, block(6, append(le(uint16(30_001), uint8(1)), bytes.Repeat([]byte{4, 0, 0}, 10_000)...)))
	stream("label lists", 6, block(8, append(le(uint32(1), uint32(50_000)), bytes.Repeat([]byte{0x89, 1}, 50_000)...)))
	stream("labels", 6, block(8, append(le(uint32(1), uint32(1)), append(bytes.Repeat([]byte{5, 0, 0}, 30_000), 0x89, 1)...)))
	stream("numbers of threads", 6, func(w *nettracetest.Writer) {
		b := le(uint64(0), uint32(0), uint32(20_000))
		for range 20_000 {
			index++
			b = append(binary.AppendUvarint(b, index), 9)
		}
		w.Block(4, b)
	})
	stream("threads that end", 6, func(w *nettracetest.Writer) {
		index++
		w.Block(7, append(binary.AppendUvarint(nil, index), 9))
	})
	nested := nettracetest.NewWriter(4, nettracetest.Trace{})
	for nested.Offset() < n {
		// Each of these blocks claims to hold all that follow, as a stack does.
		nested.StartObject("StackBlock", 2)
		nested.Raw(le(uint32(1<<30), make([]byte, -(nested.Offset()+4)&3), uint32(1), uint32(1<<20), uint32(39))...)
	}
	list["blocks within each other"] = nested.Bytes()
	return list
}

// peak returns how many bytes were in use at most while f ran, beyond those before:
// without garbage, of which there is the more the busier the machine is.
func peak(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	before, most := sample[0].Value.Uint64(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return most - min(most, before)
}

// A counted is a stream of which it is known how many bytes were read, and at how many times.
type counted struct {
	*bytes.Reader
	bytes, reads int
}

func (c *counted) Read(p []byte) (int, error) { return c.count(c.Reader.Read(p)) }

func (c *counted) ReadAt(p []byte, at int64) (int, error) { return c.count(c.Reader.ReadAt(p, at)) }

func (c *counted) count(n int, err error) (int, error) {
	c.bytes, c.reads = c.bytes+n, c.reads+1
	return n, err
}

// The cost of a stream stands in proportion to its size, whatever is in it. Each is read in
// every way where all is wanted, and else in one that another stream is not read in. Steps
// that are not linear in its size would take hours, which the test's own limit ends.
func TestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads, and takes long with the race detector")
	}
	const size = 4 << 20
	streams := amplifiers(size)
	for n, name := range slices.Sorted(maps.Keys(streams)) {
		data := streams[name]
		for i, opts := range append(orders, nil) {
			if every := corpus.Every(len(orders) + 1); i%every != n%every {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				factor := 3 // data itself is the fourth part
				if strings.HasPrefix(name, "metadata") {
					factor = 34
				}
				count := &counted{Reader: bytes.NewReader(data)}
				src, limit := io.Reader(count), uint64(16<<20+factor*len(data))
				if i == len(orders) {
					src, limit = struct{ io.Reader }{src}, limit+uint64(len(data))
				}
				records := 0
				used := peak(func() {
					r, err := nettrace.NewReader(src, opts...)
					if err != nil {
						t.Fatal(err)
					}
					var rec etw.Record
					for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
						records++
					}
					if err != io.EOF && r.Next(&rec) != io.EOF {
						t.Error("no end")
					}
				})
				if used > limit {
					t.Errorf("%d MB for %d bytes, more than %d MB", used>>20, len(data), limit>>20)
				}
				if count.bytes > 16<<20+16*len(data) || count.reads > len(data)/16 || records > len(data) {
					t.Errorf("%d bytes are read %d times, %d bytes, for %d records", len(data), count.reads, count.bytes, records)
				}
				t.Logf("%d bytes: %d MB, %d bytes in %d reads, %d records", len(data), used>>20, count.bytes, count.reads, records)
			})
		}
	}
}
