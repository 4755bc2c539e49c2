package nettrace

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// put writes bytes of the stream.
func (w *Writer) put(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.off += int64(len(b))
	}
}

// The names and versions of the objects that blocks are in.
var objectNames = map[kind]string{
	kindEvents: "EventBlock", kindMetadata: "MetadataBlock", kindStacks: "StackBlock", kindSequencePoint: "SPBlock",
}

const (
	objectVersion = 2
	traceVersion  = 4
)

// writeBlock writes a block.
func (w *Writer) writeBlock(k kind, data []byte) {
	b := w.frame[:0]
	if w.v6 {
		b = binary.LittleEndian.AppendUint32(b, uint32(k)<<24|uint32(len(data)))
		b = append(b, data...)
	} else {
		b = appendObject(b, objectNames[k], objectVersion)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		for (w.off+int64(len(b)))%4 != 0 {
			b = append(b, 0)
		}
		b = append(append(b, data...), tagEnd)
	}
	w.frame = b
	w.put(b)
}

// appendObject appends the begin of an object: its type.
func appendObject(b []byte, name string, version uint32) []byte {
	b = append(b, tagBeginPrivate, tagBeginPrivate, tagNull)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	return append(append(b, name...), tagEnd)
}

// writeHeader writes the magic and the trace header.
func (w *Writer) writeHeader() {
	h := &w.header
	var b []byte
	s := h.Clock.Start.Time()
	for _, v := range []int{s.Year(), int(s.Month()), int(s.Weekday()), s.Day(), s.Hour(), s.Minute(), s.Second(), s.Nanosecond() / int(time.Millisecond)} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Clock.Origin))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Clock.Frequency))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.PointerSize))
	if w.v6 {
		keys := h.keys()
		b = binary.LittleEndian.AppendUint32(b, uint32(len(keys)))
		for _, kv := range keys {
			b = appendText(appendText(b, kv.Key), kv.Value)
		}
		w.put([]byte("Nettrace\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"))
		w.writeBlock(kindTrace, b)
		return
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(h.ProcessID))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Processors))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.SamplingInterval))
	start := appendObject([]byte("Nettrace\x14\x00\x00\x00"+magicSerialize), "Trace", traceVersion)
	w.put(append(append(start, b...), tagEnd))
}

// keys returns those of a header of version 6: Keys, and what else is known.
func (h *Header) keys() []KeyValue {
	keys := append([]KeyValue(nil), h.Keys...)
	add := func(key string, n int64) {
		for _, kv := range keys {
			if kv.Key == key {
				return
			}
		}
		keys = append(keys, KeyValue{key, strconv.FormatInt(n, 10)})
	}
	if h.ProcessID >= 0 {
		add("ProcessId", h.ProcessID)
	}
	if h.Processors > 0 {
		add("HardwareThreadCount", int64(h.Processors))
	}
	if h.SamplingInterval > 0 {
		add("ExpectedCPUSamplingRate", int64(h.SamplingInterval))
	}
	return keys
}

// putEventsHeader writes the header of a block of events, whose headers are
// compressed.
func putEventsHeader(b []byte, low, high int64) {
	binary.LittleEndian.PutUint16(b, eventsHeaderSize)
	binary.LittleEndian.PutUint16(b[2:], 1)
	binary.LittleEndian.PutUint64(b[4:], uint64(low))
	binary.LittleEndian.PutUint64(b[12:], uint64(high))
}

// append appends h, compressed: what of it differs from the header before.
func (h *eventHeader) append(b []byte, last *eventHeader, v6 bool) []byte {
	at, flags := len(b), uint8(0)
	b = append(b, 0)
	if h.metadata != last.metadata {
		flags |= flagMetadata
		b = binary.AppendUvarint(b, uint64(h.metadata))
	}
	next := last.sequence
	if h.metadata != 0 || v6 {
		next++
	}
	if h.sequence != next || h.capture != last.capture || h.processor != last.processor {
		flags |= flagCapture
		b = binary.AppendUvarint(b, uint64(h.sequence-last.sequence-1))
		b = binary.AppendUvarint(b, h.capture)
		b = binary.AppendUvarint(b, uint64(uint32(h.processor)))
	}
	if h.thread != last.thread {
		flags |= flagThread
		b = binary.AppendUvarint(b, h.thread)
	}
	if h.stack != last.stack {
		flags |= flagStack
		b = binary.AppendUvarint(b, uint64(h.stack))
	}
	b = binary.AppendUvarint(b, uint64(h.time-last.time))
	b, flags = h.appendActivity(b, flags, last, v6)
	if h.sortPoint {
		flags |= flagSortPoint
	}
	if h.size != last.size {
		flags |= flagSize
		b = binary.AppendUvarint(b, uint64(h.size))
	}
	b[at] = flags
	return b
}

// appendActivity appends what ties an event to an activity.
func (h *eventHeader) appendActivity(b []byte, flags uint8, last *eventHeader, v6 bool) ([]byte, uint8) {
	if v6 {
		if h.labels != last.labels {
			return binary.AppendUvarint(b, uint64(h.labels)), flags | flagActivity
		}
		return b, flags
	}
	if h.activity != last.activity {
		flags |= flagActivity
		b = append(b, h.activity[:]...)
	}
	if h.related != last.related {
		flags |= flagRelated
		b = append(b, h.related[:]...)
	}
	return b, flags
}

// sequencePoint writes a sequence point, with the numbers of the last events of all
// threads. Behind it the numbers of stacks and labels start over.
func (w *Writer) sequencePoint() {
	if len(w.block) > eventsHeaderSize {
		return // its events refer to what would be forgotten; flush comes first
	}
	at := w.newest
	if len(w.threads.states) == 0 {
		at = w.header.Clock.Origin
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(at))
	flags := uint32(0)
	if w.threads.rows > pointItems {
		flags = forgetThreads
	}
	if w.v6 {
		b = binary.LittleEndian.AppendUint32(b, flags)
	}
	b = w.threads.appendNumbers(b, w.v6)
	w.writeBlock(kindSequencePoint, b)
	w.stacks.begin()
	w.labels.begin()
	if flags&forgetThreads != 0 || !w.v6 && len(w.threads.states) > pointItems {
		w.threads.begin(w)
	}
	w.point = pointState{fresh: true}
}

// appendText appends a text of version 6.
func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// appendUTF16 appends a text of the versions before 6.
func appendUTF16(b []byte, s string) []byte { return append(etw.AppendUTF16(b, s), 0, 0) }

// appendSized appends a row of version 6 with its size.
func appendSized(b, row []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(row)))
	return append(b, row...)
}
