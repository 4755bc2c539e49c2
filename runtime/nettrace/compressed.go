package nettrace

// rareFlags are those of headers that start a context, or may.
const rareFlags = flagCapture | flagActivity | flagRelated

// maxShortHeader is the size of the largest header without a rare flag.
const maxShortHeader = 1 + 5 + 10 + 5 + 10 + 5

// decodeCompressed is decode for the compressed headers of versions 4 and 5. This
// is the loop that every event of a trace passes through, so what changes from one
// event to the next is in variables, and numbers of the usual length are read in
// place. Headers with a rare flag and those that the end of the block may cut go
// the long way, by eventHeader.decode.
func (b *batch) decodeCompressed(in *eventBlock) bool {
	data, h, events := in.data, &in.h, b.events
	time, sequence := h.time, h.sequence
	i := in.at
	for i < len(data) && len(events) < cap(events) {
		in.at = i
		flags := data[i]
		if flags&rareFlags != 0 || len(events) == 0 || len(data)-i < maxShortHeader {
			h.time, h.sequence, b.events = time, sequence, events
			if i = h.decode(data, i, false); i < 0 {
				return false
			}
			b.append(h, i)
			time, sequence, events = h.time, h.sequence, b.events
			i += int(h.size)
			continue
		}
		i++
		if flags&(flagMetadata|flagThread|flagStack) != 0 {
			if i = h.decodeIDs(data, i, flags); i < 0 {
				break
			}
		}
		if h.metadata != 0 {
			sequence++
		}
		if b0, b1, b2 := data[i], data[i+1], data[i+2]; b0 >= 0x80 && b1 >= 0x80 && b2 < 0x80 {
			time += int64(b0&0x7f) | int64(b1&0x7f)<<7 | int64(b2)<<14
			i += 3
		} else {
			var d uint64
			if d, i = uvarint(data, i, 64); i < 0 {
				break
			}
			time += int64(d)
		}
		if flags&flagSize != 0 {
			if c := data[i]; c < 0x80 {
				h.size = uint32(c)
				i++
			} else if h.size, i = longNumber(data, i); i < 0 {
				break
			}
		}
		if uint64(h.size) > uint64(len(data)-i) {
			i = headerCut
			break
		}
		n := len(events)
		events = events[:n+1]
		last, e := &events[n-1], &events[n]
		e.time, e.thread, e.payload, e.size = time, h.thread, uint32(i), h.size
		e.metadata, e.stack, e.sequence, e.context = h.metadata, h.stack, sequence, last.context&^sortPoint
		if time < last.time || sequence == last.sequence || flags&flagSortPoint != 0 {
			b.irregular(events, flags)
		}
		i += int(h.size)
	}
	b.events, h.time, h.sequence = events, time, sequence
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
	if flags&flagThread != 0 {
		if h.thread, i = uvarint(b, i, 64); i < 0 {
			return i
		}
	}
	if flags&flagStack != 0 {
		h.stack, i = longNumber(b, i)
	}
	return i
}

// irregular is for the last of events if it starts a context though its header
// does not say so, or is a sort point.
func (b *batch) irregular(events []event, flags uint8) {
	n := len(events) - 1
	e, last := &events[n], &events[n-1]
	if e.time < last.time || e.sequence == last.sequence {
		c := b.contexts[len(b.contexts)-1]
		c.first = n
		b.addContext(c)
		e.context = uint32(len(b.contexts) - 1)
	}
	if flags&flagSortPoint != 0 {
		e.context |= sortPoint
		b.bound = max(b.bound, e.time)
	}
}
