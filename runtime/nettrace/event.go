package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An eventHeader is what precedes a payload. In a block with compressed headers
// it is also the state of the decoder: an event stores only what differs from
// the event before, and at the start of a block all fields are zero.
type eventHeader struct {
	time      int64
	thread    uint64 // an OS thread id; in version 6 an index in the thread table
	capture   uint64 // the same, of the thread that logged the event
	metadata  uint32
	sequence  uint32
	stack     uint32
	labels    uint32 // version 6
	size      uint32 // of the payload
	processor int32  // -1 is unknown
	sortPoint bool   // nothing later in the stream is older
	flags     uint8
	activity  etw.GUID
	related   etw.GUID
}

// The flags of a compressed header.
const (
	flagMetadata  = 0x01
	flagCapture   = 0x02
	flagThread    = 0x04
	flagStack     = 0x08
	flagActivity  = 0x10 // in version 6 the index of a label list
	flagRelated   = 0x20 // not in version 6
	flagSortPoint = 0x40
	flagSize      = 0x80
)

// What decoding a header returns in place of its length if it cannot.
const (
	headerCut = -1 // the block ends in it
	headerBad = -2 // a number is too large
)

// decode reads the compressed header at b[i:] of an event and returns the index
// of its payload, headerCut or headerBad.
//
// The order matters in two places: the metadata id must be known before the
// sequence number, which counts only events that have one; and time is a
// difference modulo 2^64, by which writers step back too.
func (h *eventHeader) decode(b []byte, i int, v6 bool) int {
	if i >= len(b) {
		return headerCut
	}
	flags := b[i]
	i++
	h.flags = flags
	var v uint64
	if flags&flagMetadata != 0 {
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else if v, i = uvarint(b, i, 32); i < 0 {
			return i
		}
		h.metadata = uint32(v)
	}
	if flags&flagCapture != 0 {
		if i = h.decodeCapture(b, i); i < 0 {
			return i
		}
	} else if h.metadata != 0 || v6 {
		h.sequence++
	}
	if flags&flagThread != 0 {
		if h.thread, i = uvarint(b, i, 64); i < 0 {
			return i
		}
	}
	if flags&flagStack != 0 {
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else if i+1 < len(b) && b[i+1] < 0x80 {
			v = uint64(b[i]&0x7f) | uint64(b[i+1])<<7
			i += 2
		} else if v, i = uvarint(b, i, 32); i < 0 {
			return i
		}
		h.stack = uint32(v)
	}
	if i+2 < len(b) && b[i]&b[i+1] >= 0x80 && b[i+2] < 0x80 { // three bytes are the most common
		v = uint64(b[i]&0x7f) | uint64(b[i+1]&0x7f)<<7 | uint64(b[i+2])<<14
		i += 3
	} else if v, i = uvarint(b, i, 64); i < 0 {
		return i
	}
	h.time += int64(v)
	if flags&(flagActivity|flagRelated) != 0 {
		if i = h.decodeActivity(b, i, v6); i < 0 {
			return i
		}
	}
	h.sortPoint = flags&flagSortPoint != 0
	if flags&flagSize != 0 {
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else if v, i = uvarint(b, i, 32); i < 0 {
			return i
		}
		h.size = uint32(v)
	}
	if uint64(h.size) > uint64(len(b)-i) {
		return headerCut
	}
	return i
}

// decodeCapture reads what tells that other thread or processor logged an event
// or that events are missing.
func (h *eventHeader) decodeCapture(b []byte, i int) int {
	d, i := uvarint(b, i, 32)
	if i < 0 {
		return i
	}
	h.sequence += uint32(d) + 1
	if h.capture, i = uvarint(b, i, 64); i < 0 {
		return i
	}
	p, i := uvarint(b, i, 32)
	if i < 0 {
		return i
	}
	h.processor = int32(uint32(p))
	return i
}

// decodeActivity reads what ties an event to an activity: two ids, or in version
// 6 a label list.
func (h *eventHeader) decodeActivity(b []byte, i int, v6 bool) int {
	if v6 {
		if h.flags&flagActivity != 0 {
			v, next := uvarint(b, i, 32)
			if next < 0 {
				return next
			}
			h.labels, i = uint32(v), next
		}
		return i
	}
	if h.flags&flagActivity != 0 {
		if len(b)-i < 16 {
			return headerCut
		}
		h.activity = etw.GUID(b[i : i+16])
		i += 16
	}
	if h.flags&flagRelated != 0 {
		if len(b)-i < 16 {
			return headerCut
		}
		h.related = etw.GUID(b[i : i+16])
		i += 16
	}
	return i
}

// The sizes of headers that are not compressed, with the size field.
const (
	plainHeader4 = 80
	plainHeader6 = 52
)

// notSortPoint is the bit of the metadata id of such a header that is set unless
// the event is a sort point.
const notSortPoint = 1 << 31

// decodePlain reads the header at b[i:] that is not compressed. It returns the
// indexes of the payload and of the next event.
//
//	size u32 (of what follows), metadata id u32, sequence u32, thread u64,
//	capture thread u64, processor u32, stack u32, time u64,
//	activity 16, related activity 16 | version 6: label list u32,
//	payload size u32
//
// Writers differ in whether the first size counts padding after the payload, so
// the larger of both sizes is believed.
func (h *eventHeader) decodePlain(b []byte, i int, v6 bool) (payload, next int) {
	head := plainHeader4
	if v6 {
		head = plainHeader6
	}
	if len(b)-i < head {
		return headerCut, 0
	}
	p := b[i : i+head]
	id := binary.LittleEndian.Uint32(p[4:])
	h.flags = flagMetadata | flagCapture
	h.metadata, h.sortPoint = id&^notSortPoint, id&notSortPoint == 0
	h.sequence = binary.LittleEndian.Uint32(p[8:])
	h.thread = binary.LittleEndian.Uint64(p[12:])
	h.capture = binary.LittleEndian.Uint64(p[20:])
	h.processor = int32(binary.LittleEndian.Uint32(p[28:]))
	h.stack = binary.LittleEndian.Uint32(p[32:])
	h.time = int64(binary.LittleEndian.Uint64(p[36:]))
	if v6 {
		h.labels = binary.LittleEndian.Uint32(p[44:])
	} else {
		h.activity, h.related = etw.GUID(p[44:60]), etw.GUID(p[60:76])
	}
	h.size = binary.LittleEndian.Uint32(p[head-4:])
	left := uint64(len(b) - i)
	used := max(uint64(binary.LittleEndian.Uint32(p))+4, uint64(head)+uint64(h.size))
	if uint64(head)+uint64(h.size) > left {
		return headerCut, 0
	}
	return i + head, i + int(min(used, left))
}

// netperfHeader is the size of a netperf header, with the size field.
const netperfHeader = 56

// decodeNetperf reads the event of version 3 at b[i:]. It returns the indexes of
// its payload, behind which its stack is, and of the next event.
//
//	size u32 (of what follows), metadata id u32, thread u32, time u64,
//	activity 16, related activity 16, payload size u32, payload,
//	stack size u32, stack, padding to 4
func (h *eventHeader) decodeNetperf(b []byte, i int) (payload, next int) {
	if len(b)-i < netperfHeader {
		return headerCut, 0
	}
	p := b[i : i+netperfHeader]
	size := uint64(binary.LittleEndian.Uint32(p)) + 4
	if size > uint64(len(b)-i) {
		return headerCut, 0
	}
	next = i + int(size)
	h.flags = flagMetadata | flagCapture
	h.metadata = binary.LittleEndian.Uint32(p[4:])
	h.thread = uint64(binary.LittleEndian.Uint32(p[8:]))
	h.capture = h.thread
	h.sequence++ // the format has no numbers
	h.time = int64(binary.LittleEndian.Uint64(p[12:]))
	h.activity, h.related = etw.GUID(p[20:36]), etw.GUID(p[36:52])
	h.size = binary.LittleEndian.Uint32(p[52:])
	h.processor = -1
	payload = i + netperfHeader
	if size < netperfHeader+4 || uint64(h.size) > size-netperfHeader-4 {
		return headerBad, 0
	}
	stack := payload + int(h.size)
	if n := binary.LittleEndian.Uint32(b[stack:]); uint64(n) > uint64(next-stack-4) {
		return headerBad, 0
	}
	return payload, next
}
