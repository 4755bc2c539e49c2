// Package nettracetest writes EventPipe streams, for tests of readers: netperf 3, nettrace 4
// and nettrace 6. Use it where a test needs a stream that no runtime writes.
//
// A [Writer] writes blocks in the order of the calls, and leaves to its caller whether they
// make sense: references to absent things are written as they are told. Fields that a caller
// does not care for have useful zero values.
package nettracetest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Trace is the header of a stream.
type Trace struct {
	Start      time.Time // of the clock, to 1 ms
	Origin     int64     // clock at Start
	Frequency  int64     // ticks per second; 0 is 1e9
	Pointer    etw.PtrSize
	ProcessID  uint32
	Processors uint32
	Sampling   uint32
	Keys       [][2]string // version 6
}

// A Writer writes one stream.
type Writer struct {
	// Plain makes the headers of events uncompressed.
	Plain    bool
	version  int
	ptr      etw.PtrSize
	buf      []byte
	sequence map[uint64]uint32 // of the last event of each capture thread
}

const magic = "!FastSerialization.1"

// NewWriter starts a stream of version 3, 4 or 6.
func NewWriter(version int, t Trace) *Writer {
	w := &Writer{version: version, ptr: t.Pointer, sequence: make(map[uint64]uint32)}
	w.ptr = cmp.Or(w.ptr, etw.Ptr64)
	t.Frequency = cmp.Or(t.Frequency, 1e9)
	if t.Start.IsZero() {
		t.Start = time.Date(2024, 2, 29, 12, 30, 45, 678e6, time.UTC)
	}
	switch version {
	case 3:
		w.u32(uint32(len(magic)))
		w.text(magic)
	case 4:
		w.text("Nettrace")
		w.u32(uint32(len(magic)))
		w.text(magic)
	case 6:
		w.text("Nettrace")
		w.u32(0)
		w.u32(6)
		w.u32(0)
	default:
		panic(fmt.Sprintf("nettracetest: version %d", version))
	}
	w.trace(t)
	return w
}

// Bytes returns the stream so far.
func (w *Writer) Bytes() []byte { return w.buf }

// Offset returns the length of the stream so far.
func (w *Writer) Offset() int { return len(w.buf) }

func (w *Writer) text(s string) { w.buf = append(w.buf, s...) }
func (w *Writer) u8(v uint8)    { w.buf = append(w.buf, v) }
func (w *Writer) u32(v uint32)  { w.buf = binary.LittleEndian.AppendUint32(w.buf, v) }

// Raw appends bytes as they are.
func (w *Writer) Raw(b ...byte) { w.buf = append(w.buf, b...) }

func (w *Writer) trace(t Trace) {
	var b []byte
	s := t.Start.UTC()
	for _, v := range []int{s.Year(), int(s.Month()), int(s.Weekday()), s.Day(), s.Hour(), s.Minute(), s.Second(), s.Nanosecond() / 1e6} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Origin))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Frequency))
	b = binary.LittleEndian.AppendUint32(b, uint32(w.ptr))
	if w.version == 6 {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Keys)))
		for _, kv := range t.Keys {
			b = appendText(appendText(b, kv[0]), kv[1])
		}
		w.Block(1, b)
		return
	}
	b = binary.LittleEndian.AppendUint32(b, t.ProcessID)
	b = binary.LittleEndian.AppendUint32(b, t.Processors)
	b = binary.LittleEndian.AppendUint32(b, t.Sampling)
	w.StartObject("Trace", uint32(w.version))
	w.buf = append(w.buf, b...)
	w.u8(6)
}

// StartObject writes the tags and the type of an object of versions 3 and 4.
func (w *Writer) StartObject(name string, version uint32) {
	begin := byte(5)
	if w.version == 3 {
		begin = 4
	}
	w.Raw(begin, begin, 1)
	w.u32(version)
	w.u32(0)
	w.u32(uint32(len(name)))
	w.text(name)
	w.u8(6)
}

// Object writes an object of versions 3 and 4 whose payload is a block.
func (w *Writer) Object(name string, data []byte) {
	w.StartObject(name, 2)
	w.u32(uint32(len(data)))
	for len(w.buf)%4 != 0 {
		w.u8(0)
	}
	w.buf = append(w.buf, data...)
	w.u8(6)
}

// Block writes a block of version 6.
func (w *Writer) Block(kind uint8, data []byte) {
	w.u32(uint32(kind)<<24 | uint32(len(data)))
	w.buf = append(w.buf, data...)
}

// block writes a block of a kind that all versions have.
func (w *Writer) block(kind uint8, name string, data []byte) {
	if w.version == 6 {
		w.Block(kind, data)
	} else {
		w.Object(name, data)
	}
}

// End writes the end marker.
func (w *Writer) End() {
	if w.version == 6 {
		w.Block(0, nil)
	} else {
		w.u8(1)
	}
}

// Stacks writes a block of call stacks, whose numbers count from first.
func (w *Writer) Stacks(first uint32, stacks ...[]uint64) {
	b := binary.LittleEndian.AppendUint32(nil, first)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(stacks)))
	for _, s := range stacks {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)*int(w.ptr)))
		b = w.appendAddresses(b, s)
	}
	w.block(5, "StackBlock", b)
}

func (w *Writer) appendAddresses(b []byte, addresses []uint64) []byte {
	for _, a := range addresses {
		if w.ptr == etw.Ptr32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(a))
		} else {
			b = binary.LittleEndian.AppendUint64(b, a)
		}
	}
	return b
}

// SequencePoint writes a sequence point at a time. It gives the numbers of the
// last events of all threads, as this Writer wrote them unless lost holds how
// many more there were. Flags are for version 6: 1 forgets threads, 2 metadata.
func (w *Writer) SequencePoint(at int64, flags uint32, lost map[uint64]uint32) {
	numbers := maps.Clone(w.sequence)
	for thread, n := range lost {
		numbers[thread] += n
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(at))
	if w.version == 6 {
		b = binary.LittleEndian.AppendUint32(b, flags)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(numbers)))
	for _, thread := range slices.Sorted(maps.Keys(numbers)) {
		if w.version == 6 {
			b = binary.AppendUvarint(b, thread)
			b = binary.AppendUvarint(b, uint64(numbers[thread]))
		} else {
			b = binary.LittleEndian.AppendUint64(b, thread)
			b = binary.LittleEndian.AppendUint32(b, numbers[thread])
		}
	}
	w.block(4, "SPBlock", b)
	w.sequence = numbers
	if flags&1 != 0 {
		clear(w.sequence)
	}
}

// A Thread is a row of the thread table of version 6. Zero ids and empty texts
// are left out.
type Thread struct {
	Index     uint64
	Name      string
	ProcessID uint64
	ThreadID  uint64
	Keys      [][2]string
}

// Threads writes a block of threads of version 6.
func (w *Writer) Threads(threads ...Thread) {
	var b []byte
	for _, t := range threads {
		row := binary.AppendUvarint(nil, t.Index)
		if t.Name != "" {
			row = appendText(append(row, 1), t.Name)
		}
		if t.ProcessID != 0 {
			row = binary.AppendUvarint(append(row, 2), t.ProcessID)
		}
		if t.ThreadID != 0 {
			row = binary.AppendUvarint(append(row, 3), t.ThreadID)
		}
		for _, kv := range t.Keys {
			row = appendText(appendText(append(row, 4), kv[0]), kv[1])
		}
		b = appendRow(b, row)
	}
	w.Block(6, b)
}

// RemoveThreads writes a block of version 6 that ends threads, with the numbers
// of their last events.
func (w *Writer) RemoveThreads(indexes ...uint64) {
	var b []byte
	for _, index := range indexes {
		b = binary.AppendUvarint(b, index)
		b = binary.AppendUvarint(b, uint64(w.sequence[index]))
		delete(w.sequence, index)
	}
	w.Block(7, b)
}

// Labels writes a block of label lists of version 6, whose numbers count from
// first.
func (w *Writer) Labels(first uint32, lists ...[]Label) {
	b := binary.LittleEndian.AppendUint32(nil, first)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(lists)))
	for _, list := range lists {
		for i, l := range list {
			b = l.append(b, i == len(list)-1)
		}
	}
	w.Block(8, b)
}

// A Label is one label of a list: a kind of the format, and the values of that kind.
type Label struct {
	Kind  uint8
	GUID  etw.GUID // 1 activity, 2 related activity, 3 trace id
	Key   string   // 5, 6
	Text  string   // 5
	Value int64    // 4 span id, 6, 7 opcode, 8 keywords, 9 level, 10 version
}

func (l *Label) append(b []byte, last bool) []byte {
	kind := l.Kind
	if last {
		kind |= 0x80
	}
	b = append(b, kind)
	switch l.Kind {
	case 1, 2, 3:
		return append(b, l.GUID[:]...)
	case 4, 8:
		return binary.LittleEndian.AppendUint64(b, uint64(l.Value))
	case 5:
		return appendText(appendText(b, l.Key), l.Text)
	case 6:
		return binary.AppendVarint(appendText(b, l.Key), l.Value)
	}
	return append(b, uint8(l.Value))
}

// appendRow appends a row of version 6 with its size.
func appendRow(b, row []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(row)))
	return append(b, row...)
}

// appendText appends a text of version 6.
func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// UTF16 returns s in UTF-16 with a NUL, as the payloads of .NET have it.
func UTF16(s string) []byte { return appendUTF16(nil, s) }

func appendUTF16(b []byte, s string) []byte { return append(etw.AppendUTF16(b, s), 0, 0) }
