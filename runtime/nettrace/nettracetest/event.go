package nettracetest

import (
	"cmp"
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Event is one event of a block.
type Event struct {
	Metadata  uint32
	Time      int64
	Thread    uint64 // an id, or in version 6 an index
	Capture   uint64 // 0 is Thread
	Processor int32  // 0 is unknown, otherwise the number and 1
	Lost      uint32 // events of the capture thread that are missing before this one
	Restart   bool   // the capture thread is a new one with a recycled id
	SortPoint bool
	Stack     uint32   // number of a stack
	Addresses []uint64 // version 3: the stack itself
	Labels    uint32   // version 6: number of a label list
	Activity  etw.GUID // before version 6
	Related   etw.GUID // before version 6
	Payload   []byte
}

// A header precedes the payload of an event, in the writer's terms.
type header struct {
	metadata, sequence, stack, labels, size uint32
	processor                               uint32
	thread, capture                         uint64
	time                                    int64
	activity, related                       etw.GUID
}

// Events writes a block of events.
func (w *Writer) Events(events ...Event) {
	if w.version != 3 {
		w.block(2, "EventBlock", w.events(events))
		return
	}
	var b []byte
	for i := range events {
		b = w.appendNetperf(b, &events[i])
	}
	w.Object("EventBlock", b)
}

// events returns the data of a block of events: its header with the lowest and
// the highest time, and the events.
func (w *Writer) events(events []Event) []byte {
	low, high := int64(0), int64(0)
	for i := range events {
		if t := events[i].Time; i == 0 {
			low, high = t, t
		} else {
			low, high = min(low, t), max(high, t)
		}
	}
	flags := uint16(1)
	if w.Plain {
		flags = 0
	}
	b := binary.LittleEndian.AppendUint16(nil, 20)
	b = binary.LittleEndian.AppendUint16(b, flags)
	b = binary.LittleEndian.AppendUint64(b, uint64(low))
	b = binary.LittleEndian.AppendUint64(b, uint64(high))
	var last header
	for i := range events {
		e := &events[i]
		h := w.header(e)
		if w.Plain {
			b = w.appendPlain(b, &h, e.SortPoint)
		} else {
			b = w.appendCompressed(b, &h, &last, e.SortPoint)
			last = h
		}
		b = append(b, e.Payload...)
	}
	return b
}

// header numbers an event and returns its header.
func (w *Writer) header(e *Event) header {
	h := header{
		metadata: e.Metadata, stack: e.Stack, labels: e.Labels, size: uint32(len(e.Payload)), processor: uint32(e.Processor - 1),
		thread: e.Thread, capture: e.Capture, time: e.Time, activity: e.Activity, related: e.Related,
	}
	h.capture = cmp.Or(h.capture, h.thread)
	if e.Metadata != 0 || w.version == 6 {
		if e.Restart {
			w.sequence[h.capture] = 0
		}
		w.sequence[h.capture] += e.Lost + 1
	}
	h.sequence = w.sequence[h.capture]
	return h
}

// appendCompressed appends the differences of h from the header before.
func (w *Writer) appendCompressed(b []byte, h, last *header, sortPoint bool) []byte {
	flags := uint8(0)
	at := len(b)
	b = append(b, 0)
	if h.metadata != last.metadata {
		flags |= 0x01
		b = binary.AppendUvarint(b, uint64(h.metadata))
	}
	next := last.sequence
	if h.metadata != 0 || w.version == 6 {
		next++
	}
	if h.sequence != next || h.capture != last.capture || h.processor != last.processor {
		flags |= 0x02
		b = binary.AppendUvarint(b, uint64(h.sequence-last.sequence-1))
		b = binary.AppendUvarint(b, h.capture)
		b = binary.AppendUvarint(b, uint64(h.processor))
	}
	if h.thread != last.thread {
		flags |= 0x04
		b = binary.AppendUvarint(b, h.thread)
	}
	if h.stack != last.stack {
		flags |= 0x08
		b = binary.AppendUvarint(b, uint64(h.stack))
	}
	b = binary.AppendUvarint(b, uint64(h.time-last.time))
	if w.version == 6 {
		if h.labels != last.labels {
			flags |= 0x10
			b = binary.AppendUvarint(b, uint64(h.labels))
		}
	} else {
		if h.activity != last.activity {
			flags |= 0x10
			b = append(b, h.activity[:]...)
		}
		if h.related != last.related {
			flags |= 0x20
			b = append(b, h.related[:]...)
		}
	}
	if sortPoint {
		flags |= 0x40
	}
	if h.size != last.size {
		flags |= 0x80
		b = binary.AppendUvarint(b, uint64(h.size))
	}
	b[at] = flags
	return b
}

// appendPlain appends a header that is not compressed. Its first bit of the
// metadata id is set unless the event is a sort point.
func (w *Writer) appendPlain(b []byte, h *header, sortPoint bool) []byte {
	size := uint32(76)
	if w.version == 6 {
		size = 48
	}
	id := h.metadata
	if !sortPoint {
		id |= 1 << 31
	}
	b = binary.LittleEndian.AppendUint32(b, size+h.size)
	b = binary.LittleEndian.AppendUint32(b, id)
	b = binary.LittleEndian.AppendUint32(b, h.sequence)
	b = binary.LittleEndian.AppendUint64(b, h.thread)
	b = binary.LittleEndian.AppendUint64(b, h.capture)
	b = binary.LittleEndian.AppendUint32(b, h.processor)
	b = binary.LittleEndian.AppendUint32(b, h.stack)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.time))
	if w.version == 6 {
		b = binary.LittleEndian.AppendUint32(b, h.labels)
	} else {
		b = append(append(b, h.activity[:]...), h.related[:]...)
	}
	return binary.LittleEndian.AppendUint32(b, h.size)
}

// appendNetperf appends an event of version 3, whose size counts the padding at
// its end.
func (w *Writer) appendNetperf(b []byte, e *Event) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, e.Metadata)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Thread))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Time))
	b = append(append(b, e.Activity[:]...), e.Related[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Payload)))
	b = append(b, e.Payload...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Addresses)*int(w.ptr)))
	b = w.appendAddresses(b, e.Addresses)
	for (len(b)-at)%4 != 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}
