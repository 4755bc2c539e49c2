package layout

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// AppendText appends a text of version 6.
func AppendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// appendUTF16 appends a text of the versions before 6.
func appendUTF16(b []byte, s string) []byte { return append(etw.AppendUTF16(b, s), 0, 0) }

// AppendSized appends a row of version 6 with its size.
func AppendSized(b, row []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(row)))
	return append(b, row...)
}

// Append appends h, compressed: its differences from the header before.
func (h *EventHeader) Append(b []byte, last *EventHeader, v6 bool) []byte {
	at, flags := len(b), uint8(0)
	b = append(b, 0)
	if h.Metadata != last.Metadata {
		flags |= FlagMetadata
		b = binary.AppendUvarint(b, uint64(h.Metadata))
	}
	next := last.Sequence
	if h.Metadata != 0 || v6 {
		next++
	}
	if h.Sequence != next || h.Capture != last.Capture || h.Processor != last.Processor {
		flags |= FlagCapture
		b = binary.AppendUvarint(b, uint64(h.Sequence-last.Sequence-1))
		b = binary.AppendUvarint(b, h.Capture)
		b = binary.AppendUvarint(b, uint64(uint32(h.Processor)))
	}
	if h.Thread != last.Thread {
		flags |= FlagThread
		b = binary.AppendUvarint(b, h.Thread)
	}
	if h.Stack != last.Stack {
		flags |= FlagStack
		b = binary.AppendUvarint(b, uint64(h.Stack))
	}
	b = binary.AppendUvarint(b, uint64(h.Time-last.Time))
	b, flags = h.appendActivity(b, flags, last, v6)
	if h.SortPoint {
		flags |= FlagSortPoint
	}
	if h.Size != last.Size {
		flags |= FlagSize
		b = binary.AppendUvarint(b, uint64(h.Size))
	}
	b[at] = flags
	return b
}

// appendActivity appends the link of an event to an activity.
func (h *EventHeader) appendActivity(b []byte, flags uint8, last *EventHeader, v6 bool) ([]byte, uint8) {
	if v6 {
		if h.Labels != last.Labels {
			return binary.AppendUvarint(b, uint64(h.Labels)), flags | FlagActivity
		}
		return b, flags
	}
	if h.Activity != last.Activity {
		flags |= FlagActivity
		b = append(b, h.Activity[:]...)
	}
	if h.Related != last.Related {
		flags |= FlagRelated
		b = append(b, h.Related[:]...)
	}
	return b, flags
}

// PutEventsHeader writes the header of a block of events, whose headers are
// compressed.
func PutEventsHeader(b []byte, low, high int64) {
	binary.LittleEndian.PutUint16(b, EventsHeaderSize)
	binary.LittleEndian.PutUint16(b[2:], 1)
	binary.LittleEndian.PutUint64(b[4:], uint64(low))
	binary.LittleEndian.PutUint64(b[12:], uint64(high))
}
