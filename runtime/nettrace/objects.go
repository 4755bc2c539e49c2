package nettrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// objects is the container of versions 3 to 5: the objects of a general
// serialization library, of which each is one block.
//
//	begin begin null, object version i32, minimum reader version i32,
//	type name (i32 length, ASCII), end, payload, end
//
// The payload of a block is its size, padding to a multiple of 4 in the stream,
// and its data. A null in place of an object ends the stream.
type objects struct {
	begin byte // the tag that starts an object
	open  bool // the end tag of the last object is still to come
}

// The sizes of the start of an object: up to the name of its type, and of a Trace
// object, which alone has no size field.
const (
	typeStart = 15
	traceSize = 48
)

// maxTypeName bounds the names of types; the longest known has 38 bytes.
const maxTypeName = 64

// netperf2 is the type of the header of netperf 1 and 2, which need random access.
const netperf2 = "Microsoft.DotNet.Runtime.EventPipeFile"

func (c *objects) next(s *source) (block, *etw.Damage) {
	at := s.off
	if c.open {
		// The end tag belongs to the last block, which is whole: a stream that stops
		// right before it lost nothing but the end marker.
		tag, err := s.peek(1)
		if err != nil {
			return block{}, endOfStream(at, 0, err)
		}
		c.open = false
		if tag[0] != layout.TagEnd {
			return block{}, damage(at, "end of an object", layout.Damaged("tag %d", tag[0]))
		}
		s.take(1)
		at++
	}
	tag, err := s.peek(1)
	if err != nil {
		return block{}, endOfStream(at, 0, err)
	}
	switch tag[0] {
	case layout.TagNull:
		s.take(1)
		return block{kind: layout.KindEnd, off: at}, nil
	case c.begin:
		return c.object(s, at)
	}
	return block{}, damage(at, "start of an object", layout.Damaged("tag %d", tag[0]))
}

// header reads a Trace object, which has the same size in all streams.
func (c *objects) header(s *source, h *Header) (d *etw.Damage, fatal bool) {
	const name, what = "Trace", "trace header"
	at := s.off
	head := typeStart + len(name) + 1
	b, err := s.peek(head)
	if err != nil {
		return endOfStream(at, len(b), err), true
	}
	version := binary.LittleEndian.Uint32(b[3:])
	if string(b[typeStart:head]) == netperf2[:len(name)+1] {
		return damage(at, what, fmt.Errorf("%w: netperf %d, of a .NET Core 2.0 preview", ErrVersion, version)), true
	}
	oldest, newest, family := uint32(3), uint32(3), "netperf"
	if c.begin == layout.TagBeginPrivate {
		oldest, newest, family = 4, 5, "nettrace"
	}
	wrong := differing(b, string([]byte{c.begin, c.begin, layout.TagNull})) + differing(b[typeStart-4:], "\x05\x00\x00\x00"+name+"\x06")
	switch {
	case wrong > maxWrong:
		return damage(at, what, layout.Damaged("the stream does not start with one")), true
	case wrong == 0 && isNext(version, newest):
		return damage(at, what, fmt.Errorf("%w: %s %d", ErrVersion, family, version)), true
	case wrong > 0 || version < oldest || version > newest:
		d = damage(at, what, layout.Damaged("its type or its version, %d, is wrong", version))
	}
	s.take(head)
	c.open = true
	trace := takeBlock(s, layout.KindTrace, traceSize)
	if trace.cut != nil {
		return damage(at, what, trace.cut), true
	}
	if _, err := h.read(trace.data, false); err != nil && d == nil {
		d = damage(at, what, err)
	}
	return d, false
}

// object reads the object that starts at offset at.
func (c *objects) object(s *source, at int64) (block, *etw.Damage) {
	const what = "type of an object"
	b, err := s.peek(typeStart)
	if err != nil {
		return block{}, endOfStream(at, len(b), err)
	}
	if b[1] != c.begin || b[2] != layout.TagNull {
		return block{}, damage(at, what, layout.Damaged("tags %d %d", b[1], b[2]))
	}
	n := binary.LittleEndian.Uint32(b[11:])
	if n > maxTypeName {
		return block{}, damage(at, what, layout.Damaged("a name of %d bytes", n))
	}
	head := typeStart + int(n) + 1
	if b, err = s.peek(head); err != nil {
		return block{}, endOfStream(at, len(b), err)
	}
	if b[head-1] != layout.TagEnd {
		return block{}, damage(at, what, layout.Damaged("tag %d", b[head-1]))
	}
	k := layout.KindUnknown
	if i := slices.Index(layout.ObjectNames[:], string(b[typeStart:head-1])); i > 0 {
		k = layout.Kind(i)
	}
	if k == layout.KindTrace {
		s.take(head)
		c.open = true
		return takeBlock(s, k, traceSize), nil
	}
	if b, err = s.peek(head + 4); err != nil {
		return block{}, endOfStream(at, len(b), err)
	}
	size := binary.LittleEndian.Uint32(b[head:])
	if size > 1<<31-1 {
		return block{}, damage(at, k.String(), layout.Damaged("size %d", int32(size)))
	}
	s.take(head + 4)
	c.open = true
	if err := s.align(); err != nil {
		return block{}, endOfStream(at, head, err)
	}
	return takeBlock(s, k, int(size)), nil
}

// follows reports whether b looks like the end of an object and of the data that may come
// then.
func (c *objects) follows(b []byte, whole bool) bool {
	switch {
	case len(b) == 0:
		return whole
	case b[0] != layout.TagEnd:
		return false
	case len(b) == 1:
		return whole
	case b[1] == layout.TagNull:
		return whole && len(b) == 2
	}
	return bytes.HasPrefix(b[1:], []byte{c.begin, c.begin, layout.TagNull})
}

// found looks how the block at s is aligned: behind it there must be another one.
func (c *objects) found(s *source) {
	b, err := s.peek(typeStart)
	if err != nil {
		return
	}
	head := typeStart + int(binary.LittleEndian.Uint32(b[11:])) + 1 + 4
	if b, err = s.peek(head); err != nil {
		return
	}
	end := head + int(min(binary.LittleEndian.Uint32(b[head-4:]), maxFound))
	b, err = s.peek(end + 3 + lookAhead)
	for pad := range 4 {
		if end+pad <= len(b) && c.follows(b[end+pad:], err != nil) {
			s.skew = -(s.off + int64(head+pad)) & 3
			return
		}
	}
}

// maxFound is how large a block may be to be trusted after damage.
const maxFound = 16 << 20

func (c *objects) ends(b []byte) bool {
	return bytes.HasSuffix(b, []byte{layout.TagEnd, layout.TagNull})
}

// find looks for the start of an object whose type is known, and whose name makes
// it unmistakable.
func (c *objects) find(b []byte, _ bool) (start, end int) {
	mark := []byte{c.begin, c.begin, layout.TagNull}
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], mark)
		if i < 0 {
			return -1, -1
		}
		at += i
		for _, name := range layout.ObjectNames[layout.KindEvents:] {
			if len(b)-at > typeStart+len(name) &&
				int(binary.LittleEndian.Uint32(b[at+11:])) == len(name) && string(b[at+typeStart:at+typeStart+len(name)]) == name {
				return at, max(at-1, 0)
			}
		}
	}
}

func (c *objects) clone() container {
	twin := *c
	return &twin
}
