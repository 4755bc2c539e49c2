package nettrace

import "github.com/etwgen/etwgen/runtime/nettrace/internal/layout"

// The flags of numbers before the time, and of changes that make an event start a context.
const (
	idFlags      = layout.FlagMetadata | layout.FlagCapture | layout.FlagThread | layout.FlagStack
	contextFlags = layout.FlagCapture | layout.FlagActivity | layout.FlagRelated
)

// decodeCompressed is decode for the compressed headers of versions 4 and 5. The first
// header of a batch, those that the end of the block may cut and those with a long number
// go the long way, by EventHeader.Decode.
func (b *batch) decodeCompressed(in *eventBlock) bool {
	for in.at < len(in.data) && len(b.events) < cap(b.events) {
		if len(b.events) > 0 && len(in.data)-in.at >= layout.Window {
			at := in.at
			if b.decodeUsual(in); in.at > at {
				continue
			}
		}
		i := in.h.Decode(in.data, in.at, false)
		if i < 0 {
			return false
		}
		b.append(&in.h, i)
		in.at = i + int(in.h.Size)
	}
	return true
}

// decodeUsual decodes events up to one that is not as most are, which it leaves. Of the
// numbers of that one only those may be set that do not count from the one before.
//
// Long: this is the loop that every event of a trace passes through. Its state is in
// variables, which the processor keeps in registers, and its numbers are read in place, by
// branches that can be foreseen.
func (b *batch) decodeUsual(in *eventBlock) {
	data, h := in.data, &in.h
	events, n := b.events[:cap(b.events)], len(b.events)
	i, last := in.at, events[n-1].time
	time, thread, metadata, stack, size, sequence := h.Time, h.Thread, h.Metadata, h.Stack, h.Size, h.Sequence
	context := uint32(len(b.contexts) - 1)
	for len(data)-i >= layout.Window && n < len(events) {
		p := (*[layout.Window]byte)(data[i:])
		flags, j, v, next := p[0], uint(1), uint64(0), sequence+1
		if flags&idFlags != 0 {
			if flags&layout.FlagMetadata != 0 {
				v, j = layout.Usual(p, j)
				metadata = uint32(v)
			}
			if flags&layout.FlagCapture != 0 {
				v, j = layout.Usual(p, j)
				next += uint32(v)
				h.Capture, j = layout.Usual(p, j)
				v, j = layout.Usual(p, j)
				h.Processor = int32(v)
			}
			if flags&layout.FlagThread != 0 {
				thread, j = layout.Usual(p, j)
			}
			if flags&layout.FlagStack != 0 {
				v, j = layout.Usual(p, j)
				stack = uint32(v)
			}
		}
		passed, j := layout.Usual(p, j)
		if flags&(layout.FlagActivity|layout.FlagRelated|layout.FlagSize) != 0 {
			if flags&contextFlags != 0 {
				j = h.DecodeGUIDs(p, j, flags)
			}
			if flags&layout.FlagSize != 0 {
				v, j = layout.Usual(p, j)
				size = uint32(v)
			}
		}
		payload := i + int(j)
		if j >= layout.Window || uint64(size) > uint64(len(data)-payload) {
			break
		}
		time += int64(passed)
		e := &events[n]
		e.time, e.thread, e.payload, e.size = time, thread, uint32(payload), size
		e.metadata, e.stack, e.context = metadata, stack, context
		if flags&(contextFlags|layout.FlagSortPoint) == 0 && time >= last && metadata != 0 {
			sequence = next
		} else {
			h.Flags, h.Metadata = flags, metadata
			if flags&layout.FlagCapture != 0 || metadata != 0 {
				sequence = next
			}
			h.Sequence = sequence
			b.irregular(h, e, n, last)
			context = uint32(len(b.contexts) - 1)
		}
		last = time
		n++
		i = payload + int(size)
	}
	in.at, b.events = i, events[:n]
	h.Time, h.Thread, h.Metadata, h.Stack, h.Size, h.Sequence = time, thread, metadata, stack, size, sequence
}

// irregular is for the last of events, e, if it starts a context or is a sort point.
func (b *batch) irregular(h *layout.EventHeader, e *event, n int, last int64) {
	if h.Flags&contextFlags != 0 || h.Metadata == 0 || e.time < last {
		b.enter(h, n)
		e.context = uint32(len(b.contexts) - 1)
	}
	if h.Flags&layout.FlagSortPoint != 0 {
		e.context |= sortPoint
		b.bound = max(b.bound, e.time)
	}
}
