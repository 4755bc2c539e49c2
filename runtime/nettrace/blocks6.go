package nettrace

import (
	"bytes"
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// plainBlocks is the container of version 6: each block is a word, the kind in
// its upper byte and the size in the rest, and the bytes.
type plainBlocks struct{}

func (plainBlocks) next(s *source) (block, *etw.Damage) {
	at := s.off
	head, err := s.peek(4)
	if err != nil {
		return block{}, endOfStream(at, len(head), err)
	}
	w := binary.LittleEndian.Uint32(head)
	k, size := kind(w>>24), int(w&0xffffff)
	if k == kindEnd {
		s.take(4)
		return block{kind: kindEnd, off: at}, nil
	}
	if k > kindLabels {
		k = kindUnknown
	}
	b := takeBlock(s, k, 4+size)
	b.data, b.off, b.head = b.data[4:], at+4, 3
	return b, nil
}

// header reads a block of kind 1. If that or its size is wrong, the block behind
// shows where it ends.
func (c plainBlocks) header(s *source, h *Header) (d *etw.Damage, fatal bool) {
	const window = 64 << 10
	at := s.off
	b, d := c.next(s)
	if d != nil {
		return d, true
	}
	if b.kind == kindTrace && b.cut == nil {
		if fits, err := h.read(b.data, true); fits && err == nil {
			return nil, false
		} else if fits {
			return damage(b.off, kindTrace.String(), err), false
		}
	}
	s.back(int(s.off - at))
	look, err := s.peek(window)
	start, _ := c.find(look[min(4, len(look)):], err != nil)
	switch {
	case start >= 0:
		h.read(look[4:4+start], true)
		s.take(4 + start)
		return damage(at, kindTrace.String(), damaged("its kind, size or content is wrong")), false
	case b.kind != kindTrace:
		return damage(b.off, b.kind.String(), damaged("the stream does not start with a trace header")), true
	case b.cut != nil:
		return damage(b.off, b.kind.String(), b.cut), true
	}
	return damage(b.off, b.kind.String(), damaged("it does not fit")), true
}

// follows reports whether b looks like the start of a block, or the end.
func (plainBlocks) follows(b []byte, whole bool) bool {
	if len(b) < 4 {
		return len(b) == 0 && whole
	}
	if binary.LittleEndian.Uint32(b) == uint32(kindEnd) {
		return whole && len(b) == 4
	}
	return startsBlock(b)
}

func (plainBlocks) found(*source) {}

func (plainBlocks) ends(b []byte) bool { return bytes.HasSuffix(b, make([]byte, 4)) }

// find looks for bytes that have the shape of a block, and behind which another
// block follows. Where none does, as it is damaged or out of sight, only blocks of
// events count, whose shape is special enough.
func (c plainBlocks) find(b []byte, whole bool) (start, end int) {
	for at := 0; at+4 <= len(b); at++ {
		if !startsBlock(b[at:]) {
			continue
		}
		w := binary.LittleEndian.Uint32(b[at:])
		next := at + 4 + int(w&0xffffff)
		inSight := next+lookAhead <= len(b) || whole && next <= len(b)
		if kind(w>>24) == kindEvents || inSight && c.follows(b[next:min(next+lookAhead, len(b))], whole && next+lookAhead >= len(b)) {
			return at, at
		}
	}
	return -1, -1
}

// startsBlock reports whether b may be the start of a block other than the first
// and the last: a kind, a size, and data that begin as those of the kind do.
func startsBlock(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	w := binary.LittleEndian.Uint32(b)
	size := uint64(w & 0xffffff)
	c := cursor{b: b[4:]}
	switch kind(w >> 24) {
	case kindEvents:
		head, flags, low, high := c.u16(), c.u16(), int64(c.u64()), int64(c.u64())
		return head >= eventsHeaderSize && head <= 64 && uint64(head) <= size && flags <= 1 && low <= high && !c.bad
	case kindMetadata:
		head := c.u16()
		c.bytes(int(head))
		row := c.u16()
		return head <= 16 && row > 4 && uint64(head)+uint64(row)+4 <= size && !c.bad
	case kindSequencePoint:
		c.u64()
		flags, n := c.u32(), uint64(c.u32())
		return flags <= forgetThreads|forgetMetadata && size >= 16+2*n && size <= 16+15*n && !c.bad
	case kindStacks:
		first, n, stack := c.u32(), uint64(c.u32()), c.u32()
		return first > 0 && n > 0 && size >= 8+4*n && stack%4 == 0 && uint64(stack)+12 <= size && !c.bad
	case kindThreads:
		row := c.u16()
		return row > 0 && uint64(row)+2 <= size && !c.bad
	case kindRemoveThreads:
		c.uvar(64)
		c.uvar(32)
		return uint64(c.off) <= size && !c.bad
	case kindLabels:
		first, n, label := c.u32(), uint64(c.u32()), c.u8()&^labelLast
		return first > 0 && n > 0 && size >= 8+2*n && label >= labelActivity && label <= labelVersion && !c.bad
	}
	return false
}

func (c plainBlocks) clone() container { return c }
