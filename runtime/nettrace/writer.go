package nettrace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A Writer writes one stream, of version 4 or 6. It must not be used by several
// goroutines at once.
//
// Records come in the order of time, as a [Reader] delivers them and as a program
// writes them that takes the time of an event when it writes it. Those of several
// threads, processors or sources that are not merged need the option [WithoutOrder].
//
// A Writer holds one block of events, and the call stacks, threads and labels since
// the last sequence point. It writes sequence points often enough for that to stay
// within some megabytes.
type Writer struct {
	out      io.Writer
	header   Header
	v6       bool
	unsorted bool
	off      int64 // of the stream
	err      error // of out, sticky
	begun    bool  // the header is written
	closed   bool

	kinds   kindTable
	stacks  stackTable
	threads threadTable
	labels  labelTable
	point   pointState

	block []byte // the events that are not written yet, behind the header of their block
	last  layout.EventHeader
	low   int64 // times of the events in block
	high  int64
	frame []byte // room for a block that is being written

	newest int64 // time stamp written so far
	clock  *etw.Clock
	moved  bool // clock is another than that of the stream
}

// A pointState decides when there is a sequence point.
type pointState struct {
	bytes int // of events since the last one
	fresh bool
}

// A WriterOption changes how a Writer writes.
type WriterOption func(*Writer)

// WithoutOrder says that only the records of each thread come in the order of time. The
// stream then does not promise more, but at a [Writer.Flush]: records after it must not be
// older than those before. Until then readers hold back all of it, and so does the Writer
// with the call stacks.
func WithoutOrder() WriterOption { return func(w *Writer) { w.unsorted = true } }

// NewWriter begins a stream with the header h, of which Version is 4, or 6, or 0 for the
// first of both that can hold it: version 4 is of one process. The Clock is the unit of the
// stream's time stamps, that of the first record if it is zero, and a record with another
// Clock gets the time stamp of the same moment. A PointerSize of 0 is that of 64 bits, a
// Frequency of 0 is 1e9.
//
// The stream may go to a pipe or a connection: nothing is written twice.
func NewWriter(out io.Writer, h Header, opts ...WriterOption) (*Writer, error) {
	switch {
	case h.Version == 0 && h.ProcessID >= 0 && h.ProcessID <= math.MaxUint32:
		h.Version = 4
	case h.Version == 0:
		h.Version = 6
	}
	if h.PointerSize == 0 {
		h.PointerSize = etw.Ptr64
	}
	switch {
	case h.Version != 4 && h.Version != 6:
		return nil, fmt.Errorf("nettrace: version %d is not written: 4 and 6 are", h.Version)
	case h.Version == 4 && (h.ProcessID < 0 || h.ProcessID > math.MaxUint32):
		return nil, fmt.Errorf("nettrace: version 4 is of one process, and %d is none: use version 6", h.ProcessID)
	case h.Version == 4 && (int64(h.Processors) > math.MaxInt32 || h.SamplingInterval > math.MaxUint32):
		return nil, fmt.Errorf("nettrace: %d processors, a sample every %d ns: %w", h.Processors, h.SamplingInterval, ErrTooLong)
	}
	w := &Writer{out: out, header: h, v6: h.Version == 6, newest: math.MinInt64}
	for _, opt := range opts {
		opt(w)
	}
	w.kinds.begin()
	w.stacks.begin()
	w.threads.begin(w)
	w.labels.begin()
	w.beginBlock()
	if h.Clock != (etw.Clock{}) {
		w.begin(&h.Clock)
	}
	return w, w.err
}

// begin writes the header with a clock, unless it is written.
func (w *Writer) begin(c *etw.Clock) {
	if w.begun {
		return
	}
	w.begun = true
	if c != nil {
		w.header.Clock = *c
	}
	if w.header.Clock.Frequency <= 0 {
		w.header.Clock.Frequency = 1e9
	}
	w.header.Clock = wholeMilliseconds(w.header.Clock)
	w.writeHeader()
}

// Write appends a record. Its ProviderName and Schema, or its substitute for a Schema, go
// into the metadata of the stream. Records of version 4 have no labels, all are of the
// process of the header, and a reader gives them the GUID that is made of the provider's name;
// handlers find them by names. Neither version has room for a Channel, a Task, or for other
// extended items than labels.
func (w *Writer) Write(rec *etw.Record) error {
	return w.write(rec, &Origin{CaptureThread: uint64(rec.ThreadID)})
}

// WriteFrom is Write for a record of which more is known: the thread that logged it, which
// is its CaptureThread in version 4 and Capture in version 6, the name of its Thread, and
// its Metadata. The rest of an Origin does not matter.
func (w *Writer) WriteFrom(rec *etw.Record, o Origin) error { return w.write(rec, &o) }

// Copy appends the record that r delivered last, with its stream's facts about it and its
// kind. Rec is that record, of which the Payload may have been replaced.
func (w *Writer) Copy(r *Reader, rec *etw.Record) error { return w.WriteFrom(rec, r.Origin()) }

// Records for which a stream has no room.
var (
	// ErrKind is of records that are not those of a manifest: EventPipe has no others.
	ErrKind = errors.New("a classic event or a message, which EventPipe does not have")
	// ErrProcess is of records of version 4 that are not of the process of the header.
	ErrProcess = errors.New("another process than that of the stream")
	// ErrPointerSize is of records of programs whose pointers are not those of the stream: a
	// reader would not find the fields behind one in a payload.
	ErrPointerSize = errors.New("a program with pointers of another size than those of the stream")
	// ErrNoProvider is of records whose provider has no name. Version 4 has names alone: there
	// it is also of those that have no name of the event either, where the GUID of the provider
	// is not made of its name, as that of an EventSource is.
	ErrNoProvider = errors.New("no name says which provider's event it is")
	// ErrTooLong is of records with a payload, a stack, a description or labels that are
	// longer than the format can say.
	ErrTooLong = errors.New("longer than the format can hold")
	// ErrNUL is of records of version 4 with a name that has a NUL, which ends names there.
	ErrNUL = errors.New("a name with a NUL, which ends names in version 4")
)

func (w *Writer) write(rec *etw.Record, o *Origin) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return errWriterClosed
	case rec.Kind != etw.KindManifest:
		return fmt.Errorf("nettrace: %v: %w", rec.Key(), ErrKind)
	case len(rec.Payload) > maxPayload:
		return fmt.Errorf("nettrace: a payload of %d bytes is longer than %d: %w", len(rec.Payload), maxPayload, ErrTooLong)
	case rec.PointerSize != 0 && rec.PointerSize.Bytes() != w.header.PointerSize.Bytes():
		return fmt.Errorf("nettrace: %v: %w", rec.Key(), ErrPointerSize)
	case !w.v6 && rec.ProcessID >= 0 && rec.ProcessID != w.header.ProcessID:
		return fmt.Errorf("nettrace: process %d: %w", rec.ProcessID, ErrProcess)
	}
	k, err := w.kinds.of(w, rec, o.Metadata)
	if err != nil {
		return err
	}
	w.begin(rec.Clock)
	h := layout.EventHeader{
		Time: w.ticks(rec), Metadata: k.id, Size: uint32(len(rec.Payload)), Processor: rec.Processor,
		Activity: rec.ActivityID, Related: rec.RelatedActivityID,
	}
	if h.Processor < 0 {
		h.Processor = -1
	}
	addresses := w.addresses(rec.Stack)
	if len(addresses) > maxPayload {
		return fmt.Errorf("nettrace: a stack of %d bytes is longer than %d: %w", len(addresses), maxPayload, ErrTooLong)
	}
	if w.full(len(rec.Payload)) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	capture, err := w.threads.set(w, &h, rec, o)
	if err != nil {
		return err
	}
	if w.v6 {
		if h.Labels, err = w.labels.of(rec, k); err != nil {
			return err
		}
		h.Activity, h.Related = etw.GUID{}, etw.GUID{}
	}
	h.Stack = w.stacks.of(addresses)
	h.Sequence = capture.next()
	w.append(&h, rec.Payload)
	return w.err
}

var errWriterClosed = fmt.Errorf("nettrace: the Writer is closed: %w", fs.ErrClosed)

// append appends an event to the block.
func (w *Writer) append(h *layout.EventHeader, payload []byte) {
	first := len(w.block) == layout.EventsHeaderSize
	if !w.unsorted {
		// Later records are not older.
		h.SortPoint = first || h.Capture != w.last.Capture
	} else if w.point.fresh {
		h.SortPoint = true
	}
	w.point.fresh = false
	if first {
		w.low, w.high = h.Time, h.Time
	}
	w.low, w.high = min(w.low, h.Time), max(w.high, h.Time)
	w.newest = max(w.newest, h.Time)
	before := len(w.block)
	w.block = h.Append(w.block, &w.last, w.v6)
	w.last = *h
	w.block = append(w.block, payload...)
	w.point.bytes += len(w.block) - before
}

// Limits of the held records.
const (
	maxEventBlock = 100 << 10 // as the runtime has it
	maxPending    = 512 << 10 // of anything that goes before a block
	maxPayload    = 15 << 20  // or stack, or labels: with maxPending less than the size of a block can be
	pointBytes    = 8 << 20   // of events between sequence points
	pointStacks   = 2 << 20   // bytes of call stacks
	pointItems    = 1 << 15   // labels, and threads
)

// full reports whether there must be another block before an event.
func (w *Writer) full(payload int) bool {
	const header = 96 // more than any
	return w.stacks.pending() > maxPending || len(w.labels.pending) > maxPending || len(w.kinds.pending) > maxPending || len(w.threads.pending) > maxPending ||
		len(w.block) > layout.EventsHeaderSize && len(w.block)+payload+header > maxEventBlock
}

// pointDue reports whether it is time for a sequence point.
func (w *Writer) pointDue() bool {
	return !w.unsorted && (w.point.bytes > pointBytes || len(w.stacks.data) > pointStacks) ||
		w.labels.items > pointItems || w.threads.rows > pointItems || len(w.threads.states) > pointItems
}

// Flush writes the records that the Writer holds, so that a reader of the stream gets it.
// Records after it must not be older.
func (w *Writer) Flush() error {
	if w.closed {
		return w.err
	}
	w.flush()
	if w.unsorted {
		w.sequencePoint()
	}
	return w.err
}

// flush writes the block of events, after its tables.
func (w *Writer) flush() error {
	w.begin(nil)
	w.kinds.flush(w)
	w.threads.flush(w)
	w.stacks.flush(w)
	w.labels.flush(w)
	if len(w.block) > layout.EventsHeaderSize {
		layout.PutEventsHeader(w.block, w.low, w.high)
		w.writeBlock(layout.KindEvents, w.block)
	}
	w.beginBlock()
	if w.pointDue() {
		w.sequencePoint()
	}
	return w.err
}

func (w *Writer) beginBlock() {
	if w.block == nil {
		w.block = make([]byte, 0, maxEventBlock+4<<10)
	}
	w.block = append(w.block[:0], make([]byte, layout.EventsHeaderSize)...)
	w.last = layout.EventHeader{}
}

// Close writes the records that the Writer holds, the last sequence point, which tells the
// losses, and the mark of the end. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.closed || w.BreakOff() != nil {
		return w.err
	}
	if w.v6 {
		w.writeBlock(layout.KindEnd, nil)
	} else {
		w.put([]byte{layout.TagNull})
	}
	return w.err
}

// BreakOff is Close without the mark of the end, for the records of a stream that has none: a
// reader finds [ErrNotStopped].
func (w *Writer) BreakOff() error {
	if !w.closed {
		w.flush()
		w.sequencePoint()
		w.closed = true
	}
	return w.err
}

// Lost says that some events of a thread were lost before they came to the Writer,
// since its last one. A thread that is not known is -1.
func (w *Writer) Lost(process, thread, events int64) {
	if events > 0 && !w.closed {
		w.threads.lost(w, process, thread, uint32(min(events, math.MaxInt32)))
	}
}

// ticks returns the time stamp of rec by the clock of the stream.
func (w *Writer) ticks(rec *etw.Record) int64 {
	if rec.Clock != w.clock {
		w.clock = rec.Clock
		w.moved = rec.Clock != nil && *rec.Clock != w.header.Clock
	}
	if !w.moved {
		return rec.Timestamp
	}
	return w.header.Clock.Convert(rec.Timestamp, rec.Clock)
}

// wholeMilliseconds returns a clock with the same times that starts at a millisecond,
// which is all that a header can say.
func wholeMilliseconds(c etw.Clock) etw.Clock {
	start := c.Start - c.Start%1e4
	return etw.Clock{Start: start, Origin: c.Ticks(start), Frequency: c.Frequency}
}
