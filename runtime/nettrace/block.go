package nettrace

// A kind says what a block holds. The values are those of version 6; the object
// container of earlier versions spells them as type names.
type kind uint8

const (
	kindEnd           kind = 0
	kindTrace         kind = 1
	kindEvents        kind = 2
	kindMetadata      kind = 3
	kindSequencePoint kind = 4
	kindStacks        kind = 5
	kindThreads       kind = 6
	kindRemoveThreads kind = 7
	kindLabels        kind = 8
	kindUnknown       kind = 0xff
)

var kindNames = [...]string{
	"end of stream", "trace header", "event block", "metadata block", "sequence point", "stack block", "thread block", "thread removal", "label block",
}

func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown block"
}

// A block is the unit of all versions: some bytes with a kind.
type block struct {
	kind kind
	data []byte // valid until the next block is read
	off  int64  // of data in the stream
	cut  error  // why the stream ends inside the block
	// head is how many bytes before data may be the start of another block, if
	// this is none.
	head int
	// mended is set once the reader has looked whether the block is as long as it says.
	mended bool
}

// A layout is how the events in a block are written.
type layout uint8

const (
	compressed layout = iota
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
	layout layout
	at     int
	warmed int         // index in data up to which warm has been
	h      eventHeader // of the event before
	// The times of the events, by the header of the block; without one low is
	// greater than high.
	low, high int64
}

// eventsHeaderSize is the least size of the header of a block of events.
const eventsHeaderSize = 20

// readHeader reads the header of a block of events, or before version 6 of
// metadata:
//
//	size u16, flags u16, lowest time u64, highest time u64, reserved
func (b *eventBlock) readHeader(v6 bool) error {
	c := cursor{b: b.data}
	size, flags := int(c.u16()), c.u16()
	b.low, b.high = int64(c.u64()), int64(c.u64())
	if c.bad || size < eventsHeaderSize || size > len(b.data) {
		b.at = len(b.data)
		return damaged("its header of %d bytes does not fit", size)
	}
	if b.low == 0 && b.high == 0 { // the writer does not say
		b.low = 1
	}
	b.at, b.layout = size, plain
	if flags&1 != 0 {
		b.layout = compressed
	}
	if v6 {
		b.layout += compressed6 - compressed
	}
	return nil
}

// warmBytes is how much of a block is brought into the processor's cache at a time:
// less than that holds.
const warmBytes = 512 << 10

// warm brings what is decoded next into the processor's cache. From one header to
// the next the decoder has to wait for the memory, if payloads are large, since
// the first says where the second is. The places that are looked at here do not
// depend on each other. The sum is of no use but to the compiler, which must not
// see that.
//
//go:noinline
func (b *eventBlock) warm() (sum byte) {
	if b.at < b.warmed {
		return 0
	}
	next := b.data[b.at:]
	next = next[:min(len(next), warmBytes)]
	b.warmed = b.at + len(next)
	for i := 0; i < len(next); i += cacheLine {
		sum += next[i]
	}
	return sum
}

const cacheLine = 64

// next decodes the header of the next event, and returns where its payload is. It
// reports whether the event fits.
func (b *eventBlock) next() (payload int, ok bool) {
	at, next := 0, 0
	switch b.layout {
	case compressed, compressed6:
		at = b.h.decode(b.data, b.at, b.layout == compressed6)
		next = at + int(b.h.size)
	case plain, plain6:
		at, next = b.h.decodePlain(b.data, b.at, b.layout == plain6)
	default:
		at, next = b.h.decodeNetperf(b.data, b.at)
	}
	if at < 0 {
		return 0, false
	}
	b.at = next
	return at, true
}
