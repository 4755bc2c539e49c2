package etl

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// A Stream decodes the buffers of a session that goes on, as they are delivered: they
// are those that files consist of. Package session feeds it.
//
// Buffers of several processors come one after the other. A record is delivered when
// records have come that are later by the window of the Stream or, if the header says
// how many processors there are, when every one of them has delivered a later record.
// So records are in the order of time if no buffer comes later than that; the records of
// one that does are delivered at once, and counted in [Stats.OutOfOrder].
//
// Facts of records about others are learned when their buffer is added. A Stream must not be
// used by several goroutines at once.
type Stream struct {
	file    file
	buffer  streamBuffer
	options options
	window  int64 // in ticks
	memory  int64

	merge  merge
	free   []*block
	filler filler
	stats  Stats

	schemas *schema.Set
	owners  classic.Owners

	latest []int64 // the key of the last record of each processor, or math.MinInt64
	newest int64   // of them
	floor  int64   // what was released
	last   int64   // key of the last record that was delivered
	limit  int64   // up to which records need not wait
}

// A streamBuffer is the buffer that is read, at the place where it would be in a file
// of all buffers.
type streamBuffer struct {
	at   int64
	data []byte
}

func (b *streamBuffer) ReadAt(p []byte, off int64) (int, error) {
	if off -= b.at; off < 0 || off >= int64(len(b.data)) {
		return 0, io.EOF
	}
	return copy(p, b.data[off:]), nil
}

// NewStream returns a Stream for the buffers of a session, of which h says at least the
// clock. Records wait for earlier ones up to the time window, or until memory bytes
// wait. [WithForesight] and [WithContext] have no meaning here.
func NewStream(h Header, window time.Duration, memory int64, opts ...Option) *Stream {
	s := &Stream{options: optionsOf(opts), memory: memory, last: math.MinInt64, newest: math.MinInt64, floor: math.MinInt64}
	s.options.foresight = nil
	h.PointerSize = cmp.Or(h.PointerSize, etw.Ptr64)
	s.file = file{ctx: s.options.ctx, src: &s.buffer, name: s.options.name, header: h, limit: maxBufferSize}
	s.file.clock = &s.file.header.Clock
	if h.BufferSize >= minBufferSize && h.BufferSize <= maxBufferSize {
		s.file.limit = h.BufferSize
	}
	if s.options.schemas {
		s.schemas = new(schema.Set)
	}
	s.window = math.MaxInt64
	frequency := max(h.Clock.Frequency, 1)
	if hi, lo := bits.Mul64(uint64(max(window, 0)), uint64(frequency)); hi < uint64(time.Second) {
		ticks, _ := bits.Div64(hi, lo, uint64(time.Second))
		s.window = int64(min(ticks, math.MaxInt64))
	}
	s.latest = make([]int64, min(int(h.Processors), maxProcessors))
	for i := range s.latest {
		s.latest[i] = math.MinInt64
	}
	return s
}

// Add adds a buffer with its header, and takes its memory. It returns memory for the
// next buffers: this one, or one that it took before, or nil. Whatever is wrong with a
// buffer is counted in [Stats].
func (s *Stream) Add(buffer []byte) (unused []byte) {
	at := s.buffer.at + int64(len(s.buffer.data))
	s.buffer = streamBuffer{at, buffer}
	s.file.size = at + int64(len(buffer))
	s.stats.Buffers++
	ref, err := s.refer(buffer, at)
	if err != nil {
		s.stats.UnreadBytes += int64(len(buffer))
		s.stats.Damage.Add(s.file.damageAt(at, "buffer header", err))
		return buffer
	}
	if ref.extent == bufferHeaderSize {
		return buffer
	}
	b := s.newBlock()
	b.ref, b.file = ref, &s.file
	if ref.compressed || cap(buffer)/2 > int(ref.extent) { // which would be a waste of memory
		b.load()
		unused = buffer
	} else {
		unused = b.place(buffer)
	}
	s.stats.count(b)
	if len(b.entries) == 0 {
		s.free = append(s.free, b)
		return unused
	}
	s.learn(b)
	s.note(b)
	s.merge.push(b)
	s.limit = s.due()
	return unused
}

// refer returns the contents of the header of a buffer.
func (s *Stream) refer(buffer []byte, at int64) (ref bufferRef, err error) {
	if len(buffer) < bufferHeaderSize {
		return ref, fmt.Errorf("%w: %d bytes", ErrTruncated, len(buffer))
	}
	h := parseBufferHeader(buffer)
	limit := len(buffer)
	if h.compressed() {
		limit = min(maxRatio*len(buffer), maxBufferSize)
	}
	if h.extent < bufferHeaderSize || int64(h.extent) > int64(limit) {
		return ref, fmt.Errorf("%w: %d of %d bytes are said to be filled", ErrHeader, h.extent, len(buffer))
	}
	ref = bufferRef{
		pos: at, sequence: h.sequence, size: uint32(len(buffer)), extent: h.extent,
		processor: h.processor, compressed: h.compressed(), doubtful: !h.hasRecords(),
	}
	// The data behind the records may be anything, also records that the buffer had when it
	// was used before.
	if !ref.compressed {
		ref.size = ref.extent
		ref.first, ref.hasFirst = recordTime(buffer[bufferHeaderSize:ref.extent])
		return ref, nil
	}
	p := unpackers.Get().(*unpacker)
	defer unpackers.Put(p)
	s.file.findAlgorithm(&ref, &p.huffman)
	ref.first, ref.hasFirst = s.file.firstTime(&ref, &p.huffman)
	return ref, nil
}

// newBlock returns a block for a buffer.
func (s *Stream) newBlock() *block {
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	return new(block)
}

// count counts the contents of b.
func (s *Stats) count(b *block) {
	s.Bytes += int64(len(b.data))
	s.Unknown += int64(b.tally.unknown)
	s.Undecodable += int64(b.tally.damaged)
	s.UnreadBytes += b.tally.unread
	if b.tally.damage != nil {
		s.Damage.Add(b.tally.damage)
	}
}

// learn takes the facts about others from the records of b.
func (s *Stream) learn(b *block) {
	var rec etw.Record
	for _, e := range b.entries {
		record := b.record(e)
		use := s.options.use(record)
		if use == (uses{}) {
			continue
		}
		s.filler.fill(&rec, b, record, e.key)
		if use.schema {
			s.schemas.Learn(&rec)
		}
		if use.owner {
			s.owners.Learn(&rec)
		}
	}
}

// note notes how far the processor of b has come.
func (s *Stream) note(b *block) {
	last := b.entries[len(b.entries)-1].key
	s.newest = max(s.newest, last)
	if i := int(b.ref.processor); i < len(s.latest) {
		s.latest[i] = max(s.latest[i], last)
	}
}

// due returns the key up to which records need not wait any more.
func (s *Stream) due() int64 {
	complete := int64(math.MinInt64)
	if len(s.latest) > 0 {
		complete = saturatingSub(slices.Min(s.latest), s.file.slack()+1)
	}
	return max(complete, saturatingSub(s.newest, s.window), s.floor)
}

// Release has the records that wait, wait no longer.
func (s *Stream) Release() {
	s.floor = max(s.floor, s.newest)
	s.limit = s.due()
}

// Waiting returns how many bytes of memory the buffers take that have records to
// deliver.
func (s *Stream) Waiting() int64 { return s.merge.bytes }

// Next sets r to the next record, and reports whether there is one that need not wait.
// Its slices are valid until the next call of Next or Add.
func (s *Stream) Next(r *etw.Record) bool {
	if len(s.merge.open) == 0 {
		return false
	}
	b := s.merge.open[0].block
	if b.key() > s.limit && s.merge.bytes <= s.memory {
		return false
	}
	e := b.entries[b.next]
	s.filler.fill(r, b, b.record(e), e.key)
	s.deliver(r, e.key)
	switch b.next++; {
	case b.next == len(b.entries):
		s.free = append(s.free, s.merge.pop())
	case b.key() >= s.merge.until():
		s.merge.advance()
	}
	return true
}

// deliver finishes a record.
func (s *Stream) deliver(r *etw.Record, key int64) {
	if key < s.last {
		s.stats.OutOfOrder++
	}
	s.last = max(s.last, key)
	s.stats.Records++
	if s.schemas != nil {
		s.schemas.Describe(r)
	}
	if s.options.attribution {
		s.owners.Attribute(r)
	}
}

// Stats returns the counts so far.
func (s *Stream) Stats() Stats { return s.stats }

// Clock returns the clock of the records. It is that of the header that the Stream
// was made with, until somebody sets it.
func (s *Stream) Clock() *etw.Clock { return s.file.clock }

// CountRecords returns how many records a buffer with its header has, or 0 if it is
// compressed.
func CountRecords(buffer []byte) (n int) {
	if len(buffer) < bufferHeaderSize {
		return 0
	}
	h := parseBufferHeader(buffer)
	if h.compressed() || int(h.extent) > len(buffer) || h.extent < bufferHeaderSize {
		return 0
	}
	for p := buffer[bufferHeaderSize:h.extent]; len(p) >= messageHeaderSize; n++ {
		r, fault := measure(p)
		if fault != "" {
			break
		}
		p = p[min((r.size+7)&^7, len(p)):]
	}
	return n
}
