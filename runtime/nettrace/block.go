package nettrace

import "github.com/etwgen/etwgen/runtime/nettrace/internal/layout"

// A block is the unit of all versions: some bytes with a kind.
type block struct {
	kind layout.Kind
	data []byte // valid until the next block is read
	off  int64  // of data in the stream
	cut  error  // why the stream ends inside the block
	// head is how many bytes before data may be the start of another block, if
	// this is none.
	head int
	// mended is set once the reader has looked whether the block is as long as it says.
	mended bool
}

// A form is how the events in a block are written.
type form uint8

const (
	compressed form = iota
	plain
	compressed6
	plain6
	netperf
)

// An eventBlock is a block of events of which those from at on are still to be
// decoded.
type eventBlock struct {
	block
	chunk  *chunk // that data is in
	form   form
	at     int
	warmed int                // index in data up to which warm has been
	h      layout.EventHeader // of the event before
	// The times of the events, by the header of the block; without one low is
	// greater than high.
	low, high int64
}

// readHeader reads the header of a block of events, or before version 6 of
// metadata:
//
//	size u16, flags u16, lowest time u64, highest time u64, reserved
func (b *eventBlock) readHeader(v6 bool) error {
	c := layout.Cursor{B: b.data}
	size, flags := int(c.U16()), c.U16()
	b.low, b.high = int64(c.U64()), int64(c.U64())
	if c.Bad || size < layout.EventsHeaderSize || size > len(b.data) {
		b.at = len(b.data)
		return layout.Damaged("its header of %d bytes does not fit", size)
	}
	if b.low == 0 && b.high == 0 { // the writer does not say
		b.low = 1
	}
	b.at, b.form = size, plain
	if flags&1 != 0 {
		b.form = compressed
	}
	if v6 {
		b.form += compressed6 - compressed
	}
	return nil
}

// warmBytes is how much of a block is brought into the processor's cache at a time:
// less than that holds.
const warmBytes = 512 << 10

// warm brings the next bytes to decode into the processor's cache. From one header to the
// next the decoder has to wait for the memory, if payloads are large, since the first says
// where the second is. The places that are looked at here do not depend on each other. The
// sum is of no use but to the compiler, which must not see that.
func (b *eventBlock) warm() (sum byte) {
	if b.at < b.warmed {
		return 0
	}
	next := b.data[b.at:]
	next = next[:min(len(next), warmBytes)]
	b.warmed = b.at + len(next)
	return touch(next)
}

// touch looks at each line of the cache that data is in.
//
//go:noinline
func touch(data []byte) (sum byte) {
	for i := 0; i < len(data); i += cacheLine {
		sum += data[i]
	}
	return sum
}

const cacheLine = 64

// next decodes the header of the next event, and returns where its payload is. It
// reports whether the event fits.
func (b *eventBlock) next() (payload int, ok bool) {
	at, next := 0, 0
	switch b.form {
	case compressed, compressed6:
		at = b.h.Decode(b.data, b.at, b.form == compressed6)
		next = at + int(b.h.Size)
	case plain, plain6:
		at, next = b.h.DecodePlain(b.data, b.at, b.form == plain6)
	default:
		at, next = b.h.DecodeNetperf(b.data, b.at)
	}
	if at < 0 {
		return 0, false
	}
	b.at = next
	return at, true
}
