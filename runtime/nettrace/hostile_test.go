package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// le returns values in little-endian order.
func le(values ...any) []byte { return join(values...) }

// blockHeader is that of an event block with compressed headers.
var blockHeader = le(uint16(20), uint16(1), make([]byte, 16))

// TestHostileStreams reads streams that claim absent data. Each must end with the given
// error and, in proportion to its size, cost next to nothing.
func TestHostileStreams(t *testing.T) {
	header := func(version int) *nettracetest.Writer {
		w := nettracetest.NewWriter(version, nettracetest.Trace{})
		w.Metadata(clrRow(1, 10))
		return w
	}
	object := func(name string, rest ...any) []byte {
		w := header(4)
		w.StartObject(name, 2)
		return append(w.Bytes(), le(rest...)...)
	}
	events4 := func(b ...any) []byte {
		w := header(4)
		w.Object("EventBlock", append(bytes.Clone(blockHeader), le(b...)...))
		w.End()
		return w.Bytes()
	}
	plain := func(version int, b ...any) []byte {
		w := header(version)
		data := append(le(uint16(20), uint16(0), make([]byte, 16)), le(b...)...)
		if version == 6 {
			w.Block(2, data)
		} else {
			w.Object("EventBlock", data)
		}
		w.End()
		return w.Bytes()
	}
	netperf := func(b ...any) []byte {
		w := header(3)
		w.Object("EventBlock", le(b...))
		w.End()
		return w.Bytes()
	}
	object4 := func(name string, b ...any) []byte {
		w := header(4)
		w.Object(name, le(b...))
		w.End()
		return w.Bytes()
	}
	block6 := func(kind uint8, b ...any) []byte {
		w := header(6)
		w.Block(kind, le(b...))
		w.End()
		return w.Bytes()
	}
	trace6 := func(b ...any) []byte {
		return append([]byte("Nettrace"), le(uint32(0), uint32(6), uint32(0), uint32(1<<24|len(le(b...))), le(b...))...)
	}
	clock := le(make([]byte, 16), uint64(0), uint64(1e9))

	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"block of 2 GB", object("EventBlock", uint32(1<<31-1), make([]byte, 1000)), nettrace.ErrTruncated},
		{"block of -1 bytes", object("EventBlock", int32(-1), make([]byte, 1000)), nettrace.ErrDamaged},
		{"block of -2147483648 bytes", object("EventBlock", uint32(1<<31), make([]byte, 1000)), nettrace.ErrDamaged},
		{"metadata of 2 GB", object("MetadataBlock", uint32(1<<31-1), make([]byte, 1000)), nettrace.ErrTruncated},
		{"stacks of 2 GB", object("StackBlock", uint32(1<<31-1), make([]byte, 1000)), nettrace.ErrTruncated},
		{"unknown block of 2 GB", object("What", uint32(1<<31-1), make([]byte, 1000)), nettrace.ErrTruncated},
		{"block of 16 MB", append(header(6).Bytes(), le(uint32(2<<24|0xffffff), make([]byte, 1000))...), nettrace.ErrTruncated},
		{"type name of 4 GB", append(header(4).Bytes(), le([]byte{5, 5, 1}, uint32(2), uint32(0), uint32(1<<32-1), make([]byte, 100))...), nettrace.ErrDamaged},
		{"type name of 65 bytes", append(header(4).Bytes(), le([]byte{5, 5, 1}, uint32(2), uint32(0), uint32(65), make([]byte, 100))...), nettrace.ErrDamaged},
		{"no tag", append(header(4).Bytes(), 77), nettrace.ErrDamaged},
		{"object of another container", append(header(4).Bytes(), 4, 4, 1), nettrace.ErrDamaged},
		{"type without an end", append(header(4).Bytes(), le([]byte{5, 5, 1}, make([]byte, 8), uint32(1), []byte{'X', 7})...), nettrace.ErrDamaged},

		{"block header cut", object4("EventBlock", uint16(20), uint16(1)), nettrace.ErrDamaged},
		{"block header of 65535 bytes", object4("EventBlock", uint16(65535), make([]byte, 30)), nettrace.ErrDamaged},
		{"block header of 0 bytes", object4("EventBlock", uint16(0), make([]byte, 30)), nettrace.ErrDamaged},
		{"metadata header cut", object4("MetadataBlock", uint16(20)), nettrace.ErrDamaged},

		{"payload of 4 GB", events4([]byte{0x80, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}), nettrace.ErrDamaged},
		{"payload of 4 GB less a little", events4([]byte{0x80, 0, 0xf0, 0xff, 0xff, 0xff, 0x0f}, make([]byte, 50)), nettrace.ErrDamaged},
		{"payload one byte too long", events4([]byte{0x80, 0, 2, 'x'}), nettrace.ErrDamaged},
		{"number of 6 bytes in 32 bits", events4([]byte{0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0}), nettrace.ErrDamaged},
		{"number of 33 bits", events4([]byte{0x01, 0xff, 0xff, 0xff, 0xff, 0x1f, 0}), nettrace.ErrDamaged},
		{"time of 11 bytes", events4([]byte{0x00, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), nettrace.ErrDamaged},
		{"time of 65 bits", events4([]byte{0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03}), nettrace.ErrDamaged},
		{"header cut in the activity", events4([]byte{0x10, 0, 1, 2, 3}), nettrace.ErrDamaged},
		{"header cut in the related activity", events4([]byte{0x20, 0, 1, 2, 3}), nettrace.ErrDamaged},
		{"header cut in the capture thread", events4([]byte{0x02, 0}), nettrace.ErrDamaged},
		{"a flag byte alone", events4([]byte{0xff}), nettrace.ErrDamaged},

		{"plain header cut", plain(4, make([]byte, 79)), nettrace.ErrDamaged},
		{"plain payload of 4 GB", plain(4, make([]byte, 76), uint32(1<<32-1)), nettrace.ErrDamaged},
		{"plain payload of 4 GB, version 6", plain(6, make([]byte, 48), uint32(1<<32-1), make([]byte, 99)), nettrace.ErrDamaged},
		{"plain size of 4 GB", plain(4, uint32(1<<32-1), make([]byte, 76)), nil},
		{"plain size of 0", plain(4, make([]byte, 160)), nil},

		{"netperf header cut", netperf(make([]byte, 55)), nettrace.ErrDamaged},
		{"netperf size of 0", netperf(make([]byte, 100)), nettrace.ErrDamaged},
		{"netperf size of 4 GB", netperf(uint32(1<<32-1), make([]byte, 100)), nettrace.ErrDamaged},
		{"netperf payload of 4 GB", netperf(uint32(60), make([]byte, 48), uint32(1<<32-1), make([]byte, 8)), nettrace.ErrDamaged},
		{"netperf payload over the stack", netperf(uint32(60), make([]byte, 48), uint32(8), make([]byte, 8)), nettrace.ErrDamaged},
		{"netperf stack of 4 GB", netperf(uint32(60), make([]byte, 48), uint32(4), make([]byte, 4), uint32(1<<32-1)), nettrace.ErrDamaged},

		{"4 billion stacks", object4("StackBlock", uint32(1), uint32(1<<32-1), make([]byte, 400)), nettrace.ErrDamaged},
		{"stack of 4 GB", object4("StackBlock", uint32(1), uint32(1), uint32(1<<32-1), make([]byte, 400)), nettrace.ErrDamaged},
		{"stack block cut", object4("StackBlock", uint32(1)), nil},
		{"4 billion threads at a sequence point", object4("SPBlock", uint64(0), uint32(1<<32-1), make([]byte, 400)), nettrace.ErrDamaged},
		{"sequence point cut", object4("SPBlock", uint32(0)), nettrace.ErrDamaged},

		{"metadata row of 4 GB", object4("MetadataBlock", blockHeader, []byte{0x80, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}), nettrace.ErrDamaged},
		{"metadata row cut, version 6", block6(3, uint16(0), uint16(1000), make([]byte, 10)), nettrace.ErrDamaged},
		{"metadata header of 64 KB, version 6", block6(3, uint16(65535), make([]byte, 10)), nettrace.ErrDamaged},
		{"thread cut", block6(6, uint16(1000), make([]byte, 10)), nettrace.ErrDamaged},
		{"thread name of 4 GB", block6(6, uint16(8), []byte{1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}), nettrace.ErrDamaged},
		{"removed thread cut", block6(7, []byte{0x80}), nettrace.ErrDamaged},
		{"4 billion label lists", block6(8, uint32(1), uint32(1<<32-1), make([]byte, 400)), nettrace.ErrDamaged},
		{"labels without an end", block6(8, uint32(1), uint32(1), []byte{7, 1}), nettrace.ErrDamaged},
		{"label of 4 GB", block6(8, uint32(1), uint32(1), []byte{0x85, 0xff, 0xff, 0xff, 0xff, 0x0f}), nettrace.ErrDamaged},
		{"unknown label", block6(8, uint32(1), uint32(1), []byte{0x80 | 99, 1, 2, 3}), nettrace.ErrDamaged},

		{"4 billion keys", trace6(clock, uint32(8), uint32(1<<32-1), make([]byte, 10)), nettrace.ErrDamaged},
		{"pointers of 5 bytes", trace6(clock, uint32(5), uint32(0)), nettrace.ErrDamaged},
		{"a clock that stands", trace6(make([]byte, 32), uint32(8), uint32(0)), nettrace.ErrDamaged},
		{"no trace header", append([]byte("Nettrace"), le(uint32(0), uint32(6), uint32(0), uint32(0))...), nettrace.ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, opts := range orders {
				var err error
				n := allocated(func() { _, _, err = readStream(t, c.data, opts...) })
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if n > 1<<20 {
					t.Errorf("%d bytes allocated for a stream of %d", n, len(c.data))
				}
			}
		})
	}
}

// Lists of fields that claim absent data must cost nothing either, and not the trace.
func TestHostileMetadata(t *testing.T) {
	var nested []byte // a struct in a struct in a struct ...
	for range 100_000 {
		nested = append(nested, 1, 0, 0, 0, 1, 0, 0, 0)
	}
	row := (&nettracetest.Row{ID: 1, Provider: "P", EventID: 1, Name: "E"}).Bytes()
	row = row[:len(row)-4]
	for name, list := range map[string][]byte{
		"4 billion fields":           le(uint32(1<<32 - 1)),
		"2 billion fields":           le(uint32(1 << 31)),
		"more fields than bytes":     le(uint32(1000), make([]byte, 100)),
		"endless nesting":            nested,
		"a name without an end":      le(uint32(1), uint32(9), bytes.Repeat([]byte{'x'}, 101)),
		"tag of 4 GB":                le(uint32(0), uint32(1<<32-1), uint8(2), make([]byte, 100)),
		"tag of -5 bytes":            le(uint32(0), int32(-5), uint8(2), make([]byte, 100)),
		"V2 entry of 0 bytes":        le(uint32(0), uint32(100), uint8(2), uint32(1), make([]byte, 96)),
		"V2 entry of 4 GB":           le(uint32(0), uint32(100), uint8(2), uint32(1), uint32(1<<32-1), make([]byte, 92)),
		"V2 with 4 billion fields":   le(uint32(0), uint32(100), uint8(2), uint32(1<<32-1), make([]byte, 96)),
		"V2 arrays of arrays of ...": le(uint32(0), uint32(400_010), uint8(2), uint32(1), uint32(400_006), uint16(0), bytes.Repeat([]byte{19, 0, 0, 0}, 100_000)),
		"V2 structs in structs in ...": le(uint32(0), uint32(800_010), uint8(2), uint32(1), uint32(800_006), uint16(0),
			bytes.Repeat([]byte{1, 0, 0, 0, 1, 0, 0, 0}, 100_000)),
	} {
		t.Run(name, func(t *testing.T) {
			w := nettracetest.NewWriter(4, nettracetest.Trace{})
			data := append(bytes.Clone(row), list...)
			b := append(bytes.Clone(blockHeader), 0x80, 0)
			b = binary.AppendUvarint(b, uint64(len(data)))
			w.Object("MetadataBlock", append(b, data...))
			w.Events(nettracetest.Event{Metadata: 1})
			w.End()
			var recs []*etw.Record
			var r *nettrace.Reader
			n := allocated(func() { recs, r = mustRead(t, w.Bytes()) })
			if len(recs) != 1 || recs[0].Schema == nil || recs[0].Schema.Name != "E" || len(recs[0].Schema.Fields) != 0 || r.Stats().BadFields != 1 {
				t.Errorf("%d records, stats %+v", len(recs), r.Stats())
			}
			if n > 1<<20+8*uint64(len(data)) {
				t.Errorf("%d bytes allocated for a row of %d", n, len(data))
			}
		})
	}
}

// The memory of file order does not depend on the length of the stream.
func TestMemoryInFileOrder(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	events := make([]nettracetest.Event, 1000)
	for i := range events {
		events[i] = nettracetest.Event{Metadata: 1, Thread: 1, Stack: uint32(i%10 + 1), Time: int64(i), Payload: make([]byte, 90)}
	}
	head := len(w.Bytes())
	stacks := make([][]uint64, 10)
	for i := range stacks {
		stacks[i] = make([]uint64, 20)
	}
	w.Stacks(1, stacks...)
	w.Events(events...)
	w.Events(events...)
	w.SequencePoint(1<<40, 0, nil)
	for (w.Offset()-head)%4 != 0 {
		t.Fatal("the repeated part must keep the alignment")
	}
	src := &repeat{head: w.Bytes()[:head], body: w.Bytes()[head:], n: 400}
	n := 0
	used := allocated(func() {
		r, err := nettrace.NewReader(src, nettrace.WithFileOrder())
		if err != nil {
			t.Fatal(err)
		}
		var rec etw.Record
		for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
			n++
		}
		if !errors.Is(err, nettrace.ErrNotStopped) || r.Stats().UnknownStacks != 0 {
			t.Fatal(err)
		}
	})
	if n != 800_000 || used > 4<<20 {
		t.Errorf("%d events of %d MB allocated %d bytes", n, len(src.body)*400>>20, used)
	}
}

// A repeat yields head, and then n times body.
type repeat struct {
	head, body []byte
	n          int
}

func (r *repeat) Read(p []byte) (int, error) {
	if len(r.head) == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.head = r.body
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}

// Reading allocates for new metadata, and not for events.
func TestAllocations(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		for _, opts := range orders {
			w := nettracetest.NewWriter(version, nettracetest.Trace{})
			w.Metadata(clrRow(1, 10))
			if version == 6 {
				w.Threads(nettracetest.Thread{Index: 1}, nettracetest.Thread{Index: 2})
				w.Labels(1, []nettracetest.Label{{Kind: 5, Key: "k", Text: "v"}})
			}
			if version != 3 {
				w.Stacks(1, []uint64{1, 2, 3})
			}
			for i := range 200 {
				var events []nettracetest.Event
				for j := range 100 {
					events = append(events, nettracetest.Event{
						Metadata: 1, Thread: uint64(1 + (i+j/10)%2), Time: int64(100*i + j), Stack: 1, Labels: uint32(j % 2), SortPoint: j == 0, Payload: []byte("payload"),
					})
				}
				w.Events(events...)
			}
			w.End()
			r := testio.Reader(t, nettrace.NewReader, w.Bytes(), opts...)
			var rec etw.Record
			for range 1000 { // until buffers have their size
				if err := r.Next(&rec); err != nil {
					t.Fatal(err)
				}
			}
			n := testing.AllocsPerRun(10_000, func() {
				if err := r.Next(&rec); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("version %d, sorted %t: %v allocations per event", version, opts == nil, n)
			}
		}
	}
}

// An error names the place and the part of the format.
func TestErrorText(t *testing.T) {
	data := smallTrace(4)
	_, _, err := readStream(t, data[:len(data)-10])
	if err == nil || !strings.HasPrefix(err.Error(), "nettrace: offset ") || !strings.Contains(err.Error(), "sequence point: the trace is cut off") {
		t.Error(err)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("a cut is an unexpected end")
	}
}
