package nettrace

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// The versions of the objects that a Writer writes.
const (
	objectVersion = 2
	traceVersion  = 4
)

// put writes bytes of the stream.
func (w *Writer) put(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.off += int64(len(b))
	}
}

// writeBlock writes a block.
func (w *Writer) writeBlock(k layout.Kind, data []byte) {
	b := w.frame[:0]
	if w.v6 {
		b = binary.LittleEndian.AppendUint32(b, uint32(k)<<24|uint32(len(data)))
		b = append(b, data...)
	} else {
		b = appendObject(b, layout.ObjectNames[k], objectVersion)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		for (w.off+int64(len(b)))%4 != 0 {
			b = append(b, 0)
		}
		b = append(append(b, data...), layout.TagEnd)
	}
	w.frame = b
	w.put(b)
}

// appendObject appends the begin of an object: its type.
func appendObject(b []byte, name string, version uint32) []byte {
	b = append(b, layout.TagBeginPrivate, layout.TagBeginPrivate, layout.TagNull)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	return append(append(b, name...), layout.TagEnd)
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
			b = layout.AppendText(layout.AppendText(b, kv.Key), kv.Value)
		}
		if len(b) > maxPayload {
			w.err = fmt.Errorf("nettrace: a header of %d bytes is longer than %d: %w", len(b), maxPayload, ErrTooLong)
		}
		w.put([]byte(layout.Magic6 + "\x00\x00\x00\x00"))
		w.writeBlock(layout.KindTrace, b)
		return
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(h.ProcessID))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Processors))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.SamplingInterval))
	start := appendObject([]byte(layout.Magic4), layout.ObjectNames[layout.KindTrace], traceVersion)
	w.put(append(append(start, b...), layout.TagEnd))
}

// keys returns those of a header of version 6: Keys, and the other known ones.
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

// sequencePoint writes a sequence point, with the numbers of the last events of all
// threads. Behind it the numbers of stacks and labels start over.
func (w *Writer) sequencePoint() {
	if len(w.block) > layout.EventsHeaderSize {
		return // its events refer to what would be forgotten; flush comes first
	}
	at := w.newest
	if len(w.threads.states) == 0 {
		at = w.header.Clock.Origin
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(at))
	flags := uint32(0)
	if w.threads.rows > pointItems {
		flags = layout.ForgetThreads
	}
	if w.v6 {
		b = binary.LittleEndian.AppendUint32(b, flags)
	}
	b = w.threads.appendNumbers(b, w.v6)
	w.writeBlock(layout.KindSequencePoint, b)
	w.stacks.begin()
	w.labels.begin()
	if flags&layout.ForgetThreads != 0 || !w.v6 && len(w.threads.states) > pointItems {
		w.threads.begin(w)
	}
	w.point = pointState{fresh: true}
}
