package nettrace

import (
	"github.com/etwgen/etwgen/runtime/etw"
)

// The flags of numbers before the time, and of what makes an event start a context.
const (
	idFlags      = flagMetadata | flagCapture | flagThread | flagStack
	contextFlags = flagCapture | flagActivity | flagRelated
)

// maxHeader is the size of the largest compressed header.
const maxHeader = 1 + 5 + 5 + 10 + 5 + 10 + 5 + 10 + 16 + 16 + 5

// decodeCompressed is decode for the compressed headers of versions 4 and 5. This
// is the loop that every event of a trace passes through: numbers of the usual
// length are read in place, by branches that the processor can foresee, and without
// asking whether the block has them. The first header of a batch and those that the
// end of the block may cut go the long way, by eventHeader.decode.
func (b *batch) decodeCompressed(in *eventBlock) bool {
	data, h, events := in.data, &in.h, b.events
	i, time := in.at, in.h.time
	for i < len(data) && len(events) < cap(events) {
		in.at = i
		if len(data)-i < maxHeader || len(events) == 0 {
			h.time, b.events = time, events
			if i = h.decode(data, i, false); i < 0 {
				return false
			}
			b.append(h, i)
			time, events = h.time, b.events
			i += int(h.size)
			continue
		}
		flags := data[i]
		h.flags = flags
		i++
		if flags&idFlags != 0 {
			if i = h.decodeIDs(data, i, flags); i < 0 {
				break
			}
		}
		passed, next := usual(data, i)
		if next == i {
			if passed, next = uvarint(data, i, 64); next < 0 {
				i = next
				break
			}
		}
		time += int64(passed)
		i = next
		if flags&(flagActivity|flagRelated|flagSize) != 0 {
			if i = h.decodeRest(data, i, flags); i < 0 {
				break
			}
		}
		if uint64(h.size) > uint64(len(data)-i) {
			i = headerCut
			break
		}
		n := len(events)
		events = events[:n+1]
		e := &events[n]
		e.time, e.thread, e.payload, e.size = time, h.thread, uint32(i), h.size
		e.metadata, e.stack, e.context = h.metadata, h.stack, uint32(len(b.contexts)-1)
		if last := events[n-1].time; flags&(contextFlags|flagSortPoint) == 0 && time >= last && h.metadata != 0 {
			h.sequence++
		} else {
			b.irregular(h, e, n, last)
		}
		i += int(h.size)
	}
	b.events, h.time = events, time
	if i < 0 {
		return false
	}
	in.at = i
	return true
}

// decodeIDs reads the numbers of a compressed header that stand before the time.
func (h *eventHeader) decodeIDs(b []byte, i int, flags uint8) int {
	if flags&flagMetadata != 0 {
		if c := b[i]; c < 0x80 {
			h.metadata = uint32(c)
			i++
		} else if h.metadata, i = longNumber(b, i); i < 0 {
			return i
		}
	}
	if flags&flagCapture != 0 {
		if i = h.decodeCapture(b, i); i < 0 {
			return i
		}
	}
	if flags&flagThread != 0 {
		at := i
		if h.thread, i = usual(b, at); i == at {
			if h.thread, i = uvarint(b, at, 64); i < 0 {
				return i
			}
		}
	}
	if flags&flagStack != 0 {
		if c := b[i]; c < 0x80 {
			h.stack = uint32(c)
			i++
		} else {
			h.stack, i = longNumber(b, i)
		}
	}
	return i
}

// decodeRest reads what stands behind the time.
func (h *eventHeader) decodeRest(b []byte, i int, flags uint8) int {
	if flags&flagActivity != 0 {
		h.activity = etw.GUID(b[i : i+16])
		i += 16
	}
	if flags&flagRelated != 0 {
		h.related = etw.GUID(b[i : i+16])
		i += 16
	}
	if flags&flagSize != 0 {
		if c := b[i]; c < 0x80 {
			h.size = uint32(c)
			i++
		} else {
			h.size, i = longNumber(b, i)
		}
	}
	return i
}

// irregular is for the last of events, e, if it starts a context or is a sort point.
// It keeps count of the numbers of events, of which one without metadata has none.
func (b *batch) irregular(h *eventHeader, e *event, n int, last int64) {
	flags := h.flags
	if flags&flagCapture == 0 && h.metadata != 0 {
		h.sequence++
	}
	if flags&contextFlags != 0 || h.metadata == 0 || e.time < last {
		b.enter(h, n)
		e.context = uint32(len(b.contexts) - 1)
	}
	if flags&flagSortPoint != 0 {
		e.context |= sortPoint
		b.bound = max(b.bound, e.time)
	}
}
