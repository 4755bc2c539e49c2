package nettrace

import (
	"bytes"
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
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
	k, size := layout.Kind(w>>24), int(w&0xffffff)
	if k == layout.KindEnd {
		s.take(4)
		return block{kind: layout.KindEnd, off: at}, nil
	}
	if k > layout.KindLabels {
		k = layout.KindUnknown
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
	if b.kind == layout.KindTrace && b.cut == nil {
		if fits, err := h.read(b.data, true); fits && err == nil {
			return nil, false
		} else if fits {
			return damage(b.off, layout.KindTrace.String(), err), false
		}
	}
	s.back(int(s.off - at))
	look, err := s.peek(window)
	start, _ := c.find(look[min(4, len(look)):], err != nil)
	switch {
	case start >= 0:
		h.read(look[4:4+start], true)
		s.take(4 + start)
		return damage(at, layout.KindTrace.String(), layout.Damaged("its kind, size or content is wrong")), false
	case b.kind != layout.KindTrace:
		return damage(b.off, b.kind.String(), layout.Damaged("the stream does not start with a trace header")), true
	case b.cut != nil:
		return damage(b.off, b.kind.String(), b.cut), true
	}
	return damage(b.off, b.kind.String(), layout.Damaged("it does not fit")), true
}

// follows reports whether b looks like the start of a block, or the end.
func (plainBlocks) follows(b []byte, whole bool) bool {
	if len(b) < 4 {
		return len(b) == 0 && whole
	}
	if binary.LittleEndian.Uint32(b) == uint32(layout.KindEnd) {
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
		if layout.Kind(w>>24) == layout.KindEvents || inSight && c.follows(b[next:min(next+lookAhead, len(b))], whole && next+lookAhead >= len(b)) {
			return at, at
		}
	}
	return -1, -1
}

// startsBlock reports whether b may be the start of a block other than the first
// and the last: a kind, a size, and data that begin as those of the kind do.
//
// Long: one case for each kind.
func startsBlock(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	w := binary.LittleEndian.Uint32(b)
	size := uint64(w & 0xffffff)
	c := layout.Cursor{B: b[4:]}
	switch layout.Kind(w >> 24) {
	case layout.KindEvents:
		head, flags, low, high := c.U16(), c.U16(), int64(c.U64()), int64(c.U64())
		return head >= layout.EventsHeaderSize && head <= 64 && uint64(head) <= size && flags <= 1 && low <= high && !c.Bad
	case layout.KindMetadata:
		head := c.U16()
		c.Bytes(int(head))
		row := c.U16()
		return head <= 16 && row > 4 && uint64(head)+uint64(row)+4 <= size && !c.Bad
	case layout.KindSequencePoint:
		c.U64()
		flags, n := c.U32(), uint64(c.U32())
		return flags <= layout.ForgetThreads|layout.ForgetMetadata && size >= 16+2*n && size <= 16+15*n && !c.Bad
	case layout.KindStacks:
		first, n, stack := c.U32(), uint64(c.U32()), c.U32()
		return first > 0 && n > 0 && size >= 8+4*n && stack%4 == 0 && uint64(stack)+12 <= size && !c.Bad
	case layout.KindThreads:
		row := c.U16()
		return row > 0 && uint64(row)+2 <= size && !c.Bad
	case layout.KindRemoveThreads:
		c.Uvar(64)
		c.Uvar(32)
		return uint64(c.Off) <= size && !c.Bad
	case layout.KindLabels:
		first, n, label := c.U32(), uint64(c.U32()), c.U8()&^layout.LabelLast
		return first > 0 && n > 0 && size >= 8+2*n && label >= layout.LabelActivity && label <= layout.LabelVersion && !c.Bad
	}
	return false
}

func (c plainBlocks) clone() container { return c }
