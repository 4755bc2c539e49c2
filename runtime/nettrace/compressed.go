package nettrace

import "github.com/etwgen/etwgen/runtime/nettrace/internal/layout"

// The flags of numbers before the time, and of what makes an event start a context.
const (
	idFlags      = layout.FlagMetadata | layout.FlagCapture | layout.FlagThread | layout.FlagStack
	contextFlags = layout.FlagCapture | layout.FlagActivity | layout.FlagRelated
)

// maxHeader is the size of the largest compressed header.
const maxHeader = 1 + 5 + 5 + 10 + 5 + 10 + 5 + 10 + 16 + 16 + 5

// decodeCompressed is decode for the compressed headers of versions 4 and 5. This
// is the loop that every event of a trace passes through: numbers of the usual
// length are read in place, by branches that the processor can foresee, and without
// asking whether the block has them. The first header of a batch and those that the
// end of the block may cut go the long way, by EventHeader.Decode.
func (b *batch) decodeCompressed(in *eventBlock) bool {
	data, h, events := in.data, &in.h, b.events
	i, time := in.at, in.h.Time
	for i < len(data) && len(events) < cap(events) {
		in.at = i
		if len(data)-i < maxHeader || len(events) == 0 {
			h.Time, b.events = time, events
			if i = h.Decode(data, i, false); i < 0 {
				return false
			}
			b.append(h, i)
			time, events = h.Time, b.events
			i += int(h.Size)
			continue
		}
		flags := data[i]
		h.Flags = flags
		i++
		if flags&idFlags != 0 {
			if i = h.DecodeIDs(data, i, flags); i < 0 {
				break
			}
		}
		passed, next := layout.Usual(data, i)
		if next == i {
			if passed, next = layout.Uvarint(data, i, 64); next < 0 {
				i = next
				break
			}
		}
		time += int64(passed)
		i = next
		if flags&(layout.FlagActivity|layout.FlagRelated|layout.FlagSize) != 0 {
			if i = h.DecodeRest(data, i, flags); i < 0 {
				break
			}
		}
		if uint64(h.Size) > uint64(len(data)-i) {
			i = layout.HeaderCut
			break
		}
		n := len(events)
		events = events[:n+1]
		e := &events[n]
		e.time, e.thread, e.payload, e.size = time, h.Thread, uint32(i), h.Size
		e.metadata, e.stack, e.context = h.Metadata, h.Stack, uint32(len(b.contexts)-1)
		if last := events[n-1].time; flags&(contextFlags|layout.FlagSortPoint) == 0 && time >= last && h.Metadata != 0 {
			h.Sequence++
		} else {
			b.irregular(h, e, n, last)
		}
		i += int(h.Size)
	}
	b.events, h.Time = events, time
	if i < 0 {
		return false
	}
	in.at = i
	return true
}

// irregular is for the last of events, e, if it starts a context or is a sort point.
// It keeps count of the numbers of events, of which one without metadata has none.
func (b *batch) irregular(h *layout.EventHeader, e *event, n int, last int64) {
	flags := h.Flags
	if flags&layout.FlagCapture == 0 && h.Metadata != 0 {
		h.Sequence++
	}
	if flags&contextFlags != 0 || h.Metadata == 0 || e.time < last {
		b.enter(h, n)
		e.context = uint32(len(b.contexts) - 1)
	}
	if flags&layout.FlagSortPoint != 0 {
		e.context |= sortPoint
		b.bound = max(b.bound, e.time)
	}
}
