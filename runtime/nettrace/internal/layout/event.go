package layout

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An EventHeader precedes a payload. In a block with compressed headers it is also the state
// of the decoder: an event stores only its differences from the event before, and at the
// start of a block all fields are zero.
type EventHeader struct {
	Time      int64
	Thread    uint64 // an OS thread id; in version 6 an index in the thread table
	Capture   uint64 // the same, of the thread that logged the event
	Metadata  uint32
	Sequence  uint32
	Stack     uint32
	Labels    uint32 // version 6
	Size      uint32 // of the payload
	Processor int32  // -1 is unknown
	SortPoint bool   // nothing later in the stream is older
	Flags     uint8
	Activity  etw.GUID
	Related   etw.GUID
}

// The flags of a compressed header.
const (
	FlagMetadata  = 0x01
	FlagCapture   = 0x02
	FlagThread    = 0x04
	FlagStack     = 0x08
	FlagActivity  = 0x10 // in version 6 the index of a label list
	FlagRelated   = 0x20 // not in version 6
	FlagSortPoint = 0x40
	FlagSize      = 0x80
)

// Results of decoding a header in place of its length if it fails.
const (
	HeaderCut = -1 // the block ends in it
	headerBad = -2 // a number is too large
)

// Decode reads the compressed header at b[i:] of an event and returns the index
// of its payload, HeaderCut or headerBad.
//
// The order matters in two places: the metadata id must be known before the
// sequence number, which counts only events that have one; and time is a
// difference modulo 2^64, by which writers step back too.
//
// Long: numbers of the usual length are read in place.
func (h *EventHeader) Decode(b []byte, i int, v6 bool) int {
	if i >= len(b) {
		return HeaderCut
	}
	flags := b[i]
	i++
	h.Flags = flags
	var v uint64
	if flags&FlagMetadata != 0 {
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else if v, i = Uvarint(b, i, 32); i < 0 {
			return i
		}
		h.Metadata = uint32(v)
	}
	if flags&FlagCapture != 0 {
		if i = h.decodeCapture(b, i); i < 0 {
			return i
		}
	} else if h.Metadata != 0 || v6 {
		h.Sequence++
	}
	if flags&FlagThread != 0 {
		if h.Thread, i = Uvarint(b, i, 64); i < 0 {
			return i
		}
	}
	if flags&FlagStack != 0 {
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else if i+1 < len(b) && b[i+1] < 0x80 {
			v = uint64(b[i]&0x7f) | uint64(b[i+1])<<7
			i += 2
		} else if v, i = Uvarint(b, i, 32); i < 0 {
			return i
		}
		h.Stack = uint32(v)
	}
	if i+2 < len(b) && b[i]&b[i+1] >= 0x80 && b[i+2] < 0x80 { // three bytes are the most common
		v = uint64(b[i]&0x7f) | uint64(b[i+1]&0x7f)<<7 | uint64(b[i+2])<<14
		i += 3
	} else if v, i = Uvarint(b, i, 64); i < 0 {
		return i
	}
	h.Time += int64(v)
	if flags&(FlagActivity|FlagRelated) != 0 {
		if i = h.decodeActivity(b, i, v6); i < 0 {
			return i
		}
	}
	h.SortPoint = flags&FlagSortPoint != 0
	if flags&FlagSize != 0 {
		if i < len(b) && b[i] < 0x80 {
			v = uint64(b[i])
			i++
		} else if v, i = Uvarint(b, i, 32); i < 0 {
			return i
		}
		h.Size = uint32(v)
	}
	if uint64(h.Size) > uint64(len(b)-i) {
		return HeaderCut
	}
	return i
}

// decodeCapture reads the fields that say that another thread or processor logged an event
// or that events are missing.
func (h *EventHeader) decodeCapture(b []byte, i int) int {
	d, i := Uvarint(b, i, 32)
	if i < 0 {
		return i
	}
	h.Sequence += uint32(d) + 1
	if h.Capture, i = Uvarint(b, i, 64); i < 0 {
		return i
	}
	p, i := Uvarint(b, i, 32)
	if i < 0 {
		return i
	}
	h.Processor = int32(uint32(p))
	return i
}

// decodeActivity reads the link of an event to an activity: two ids, or in version 6 a label
// list.
func (h *EventHeader) decodeActivity(b []byte, i int, v6 bool) int {
	if v6 {
		if h.Flags&FlagActivity != 0 {
			v, next := Uvarint(b, i, 32)
			if next < 0 {
				return next
			}
			h.Labels, i = uint32(v), next
		}
		return i
	}
	if h.Flags&FlagActivity != 0 {
		if len(b)-i < 16 {
			return HeaderCut
		}
		h.Activity = etw.GUID(b[i : i+16])
		i += 16
	}
	if h.Flags&FlagRelated != 0 {
		if len(b)-i < 16 {
			return HeaderCut
		}
		h.Related = etw.GUID(b[i : i+16])
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

// DecodePlain reads the header at b[i:] that is not compressed. It returns the
// indexes of the payload and of the next event.
//
//	size u32 (of what follows), metadata id u32, sequence u32, thread u64,
//	capture thread u64, processor u32, stack u32, time u64,
//	activity 16, related activity 16 | version 6: label list u32,
//	payload size u32
//
// Writers differ in whether the first size counts padding after the payload, so
// the larger of both sizes is believed.
func (h *EventHeader) DecodePlain(b []byte, i int, v6 bool) (payload, next int) {
	head := plainHeader4
	if v6 {
		head = plainHeader6
	}
	if len(b)-i < head {
		return HeaderCut, 0
	}
	p := b[i : i+head]
	id := binary.LittleEndian.Uint32(p[4:])
	h.Flags = FlagMetadata | FlagCapture
	h.Metadata, h.SortPoint = id&^notSortPoint, id&notSortPoint == 0
	h.Sequence = binary.LittleEndian.Uint32(p[8:])
	h.Thread = binary.LittleEndian.Uint64(p[12:])
	h.Capture = binary.LittleEndian.Uint64(p[20:])
	h.Processor = int32(binary.LittleEndian.Uint32(p[28:]))
	h.Stack = binary.LittleEndian.Uint32(p[32:])
	h.Time = int64(binary.LittleEndian.Uint64(p[36:]))
	if v6 {
		h.Labels = binary.LittleEndian.Uint32(p[44:])
	} else {
		h.Activity, h.Related = etw.GUID(p[44:60]), etw.GUID(p[60:76])
	}
	h.Size = binary.LittleEndian.Uint32(p[head-4:])
	left := uint64(len(b) - i)
	used := max(uint64(binary.LittleEndian.Uint32(p))+4, uint64(head)+uint64(h.Size))
	if uint64(head)+uint64(h.Size) > left {
		return HeaderCut, 0
	}
	return i + head, i + int(min(used, left))
}

// netperfHeader is the size of a netperf header, with the size field.
const netperfHeader = 56

// DecodeNetperf reads the event of version 3 at b[i:]. It returns the indexes of
// its payload, behind which its stack is, and of the next event.
//
//	size u32 (of what follows), metadata id u32, thread u32, time u64,
//	activity 16, related activity 16, payload size u32, payload,
//	stack size u32, stack, padding to 4
func (h *EventHeader) DecodeNetperf(b []byte, i int) (payload, next int) {
	if len(b)-i < netperfHeader {
		return HeaderCut, 0
	}
	p := b[i : i+netperfHeader]
	size := uint64(binary.LittleEndian.Uint32(p)) + 4
	if size > uint64(len(b)-i) {
		return HeaderCut, 0
	}
	next = i + int(size)
	h.Flags = FlagMetadata | FlagCapture
	h.Metadata = binary.LittleEndian.Uint32(p[4:])
	h.Thread = uint64(binary.LittleEndian.Uint32(p[8:]))
	h.Capture = h.Thread
	h.Sequence++ // the format has no numbers
	h.Time = int64(binary.LittleEndian.Uint64(p[12:]))
	h.Activity, h.Related = etw.GUID(p[20:36]), etw.GUID(p[36:52])
	h.Size = binary.LittleEndian.Uint32(p[52:])
	h.Processor = -1
	payload = i + netperfHeader
	if size < netperfHeader+4 || uint64(h.Size) > size-netperfHeader-4 {
		return headerBad, 0
	}
	stack := payload + int(h.Size)
	if n := binary.LittleEndian.Uint32(b[stack:]); uint64(n) > uint64(next-stack-4) {
		return headerBad, 0
	}
	return payload, next
}

// Window is how many bytes are looked at for a compressed header, a power of two above
// the size of the largest: 1+5+5+10+5+10+5+10+16+16+5.
const Window = 1 << 7

// Usual reads a LEB128 number of up to three bytes, as most have, at p[i]. It returns the
// index after it, or one outside of p if it is longer, or if i is. That another byte
// follows is a bit of the number until it does.
func Usual(p *[Window]byte, i uint) (v uint64, next uint) {
	if v = uint64(p[i%Window]); v < 1<<7 {
		return v, i + 1
	}
	if v += uint64(p[(i+1)%Window])<<7 - 1<<7; v < 1<<14 {
		return v, i + 2
	}
	if v += uint64(p[(i+2)%Window])<<14 - 1<<14; v < 1<<21 {
		return v, i + 3
	}
	return 0, i + Window
}

// DecodeGUIDs reads the ids of activities at p[i], if i is an index of p.
func (h *EventHeader) DecodeGUIDs(p *[Window]byte, i uint, flags uint8) uint {
	if flags&FlagActivity != 0 && i <= Window-16 {
		h.Activity = etw.GUID(p[i : i+16])
		i += 16
	}
	if flags&FlagRelated != 0 && i <= Window-16 {
		h.Related = etw.GUID(p[i : i+16])
		i += 16
	}
	return i
}

// EventsHeaderSize is the least size of the header of a block of events.
const EventsHeaderSize = 20
