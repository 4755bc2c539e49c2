package nettrace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventheader"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A Reader reads one stream. It is not safe for concurrent use.
type Reader struct {
	// Where records come from.
	stream stream
	ahead  *ahead   // nil if all is decoded here
	file   *os.File // that Open opened

	// The tables they refer to.
	header Header
	known  known

	headers eventheader.Decoder // of programs of Linux

	// Where they wait.
	memory memory
	sort   *sorter // nil in file order

	// Which are next: events[at:to], which are of batch.
	events []event
	at, to int
	batch  *batch
	single batch // the only one, in file order

	// Which have been delivered.
	stats     Stats
	newest    int64 // time stamp
	concluded bool  // the final error has been returned
	closed    bool
}

// NewReader reads the start of a stream up to the trace header, and returns a
// reader for the rest. It buffers, but never waits for more than it needs, so the
// stream may be that of a live session.
func NewReader(src io.Reader, opts ...Option) (*Reader, error) {
	o := options{limit: defaultSortLimit}
	for _, opt := range opts {
		opt(&o)
	}
	r := &Reader{newest: math.MinInt64}
	r.stream = stream{src: newSource(src), name: o.name, stats: &r.stats}
	if err := r.stream.begin(&r.header); err != nil {
		err.File = o.name
		return nil, err
	}
	r.known.begin(&r.header, o.name, &r.stats)
	if !o.inFileOrder && !r.stream.v3 { // whose events are in the order of time
		r.sort = &sorter{limit: o.limit, bound: math.MinInt64}
	}
	if !o.sequential && mayPay(&r.stream) {
		r.ahead = newAhead(&r.stream, portionBytes/2)
	}
	return r, nil
}

// Open opens a file. Close closes it.
func Open(path string, opts ...Option) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("nettrace: %w", err)
	}
	r, err := NewReader(f, append([]Option{WithName(path)}, opts...)...)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// Close ends the reading, and closes the file that [Open] opened. It is an error to read on;
// the last record is not valid any more.
func (r *Reader) Close() error {
	r.closed = true
	r.batch, r.events, r.at, r.to = nil, nil, 0, 0
	r.ahead.stop()
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

var errClosed = fmt.Errorf("nettrace: %w", fs.ErrClosed)

// Header returns the header of the stream.
func (r *Reader) Header() Header { return r.header }

// Stats returns counts of the reading so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Bytes = r.stream.src.off
	s.Lost = r.known.loss.lost
	s.LostByThread = maps.Clone(r.known.loss.byThread)
	s.Continued = r.known.loss.continued
	return s
}

// Records iterates over the records that are left, and ends after the last one or
// after the error that [Reader.Next] returns in its place. The record is reused: it
// is valid until the next iteration.
func (r *Reader) Records() iter.Seq2[*etw.Record, error] { return etw.Records(r) }

// Next reads the next record into rec, all of whose fields it sets. The memory
// that rec then points to is valid until the next call.
//
// After the last record Next returns io.EOF. If parts of the stream are missing
// or cannot be read, it first returns one error, which is an
// [*etw.IncompleteError] and so [etw.ErrIncomplete]; if nothing is missing but the
// order, one that is [ErrSortLimit].
func (r *Reader) Next(rec *etw.Record) error {
	for r.at == r.to {
		if r.closed {
			return errClosed
		}
		if err := r.more(); err != nil {
			return r.conclude()
		}
	}
	e := &r.events[r.at]
	r.deliver(rec, r.known.kind(e), r.batch, e)
	r.at++
	return nil
}

// more sets the events that come next: in file order those of the next batch,
// otherwise those that are due before all others. It returns io.EOF if there are
// none.
func (r *Reader) more() error {
	if r.sort != nil {
		return r.merge()
	}
	if r.batch != nil {
		r.finish(r.batch)
	}
	b, err := r.scan(&r.single)
	if err != nil {
		r.batch, r.events, r.at, r.to = nil, nil, 0, 0
		return err
	}
	r.batch, r.events, r.at, r.to = b, b.events, 0, len(b.events)
	return nil
}

// finish gives up the memory of a batch that was delivered.
func (r *Reader) finish(b *batch) {
	if b.page != nil {
		r.memory.leave(b.page)
		b.page = nil
	}
	if b.chunk != nil {
		r.stream.src.release(b.chunk)
		b.chunk = nil
	}
}

// conclude returns the error after the last record: once the fault, and then io.EOF.
func (r *Reader) conclude() error {
	if r.concluded {
		return io.EOF
	}
	r.concluded = true
	r.memory.end()
	err := r.stats.Damage.Err()
	if late := r.sort.late(&r.stats); late != nil {
		if err == nil {
			return late
		}
		return fmt.Errorf("%w; %w", err, late)
	}
	if err == nil {
		return io.EOF
	}
	return err
}

// scan decodes the next events of the stream into b, and takes in the blocks
// before them.
func (r *Reader) scan(b *batch) (*batch, error) {
	for {
		for r.stream.cur.at < len(r.stream.cur.data) {
			if r.decode(b); len(b.events) > 0 {
				return b, nil
			}
			r.finish(b)
		}
		if err := r.advance(); err != nil {
			return b, err
		}
	}
}

// decode decodes events of the current block into b, or takes those decoded ahead.
func (r *Reader) decode(b *batch) {
	in := &r.stream.cur
	if done := r.ahead.take(in, &r.memory); done != nil {
		*b = done.batch
		in.at, in.h = done.to, done.h
		r.known.loss.observe(b, false)
		return
	}
	from, before := in.at, in.h
	b.begin(r.memory.room(), in)
	if r.stream.src.stable() { // what was read into a chunk is in the cache already
		in.warm()
	}
	fits := r.fill(b)
	whole, at := fits && b.inTime(in), in.at
	if !whole {
		err := errTimes
		if !fits {
			err = layout.Damaged("the event does not fit")
		}
		if r.stream.mend(&in.block) {
			err, at = errLonger, len(in.data)
			in.at, in.h = from, before
			b.begin(b.page, in)
			fits = r.fill(b)
		}
		if !fits {
			b.cutGarbage(in)
			in.at = len(in.data)
		}
		if in.cut == nil { // where the stream ends, advance says so
			r.stream.lose(layout.KindEvents, in.off+int64(at), err)
		}
	}
	b.bytes = int64(in.at - from)
	size := b.page.size()
	b.end()
	r.memory.paged += b.page.size() - size
	if !r.stream.v3 {
		r.known.loss.observe(b, !whole)
	}
}

// errTimes is for blocks whose events may mislead.
var errTimes = layout.Damaged("the times of events are not those that the block's header gives")

// fill fills b with events of the current block, and reports whether they fit. The
// metadata rows of netperf stand among the events.
func (r *Reader) fill(b *batch) bool {
	in := &r.stream.cur
	if in.form != netperf {
		return b.decode(in)
	}
	for len(b.events) < cap(b.events) && in.at < len(in.data) {
		at := in.at
		payload, ok := in.next()
		switch {
		case !ok:
			return false
		case in.h.Metadata != 0:
			b.append(&in.h, payload)
		case len(b.events) > 0: // the row is not about these
			in.at = at
			return true
		default:
			if err := r.known.addRow(in.data[payload:payload+int(in.h.Size)], describedLimit(r.stream.src.off)); err != nil {
				r.stream.lose(layout.KindMetadata, in.off+int64(at), err)
			}
		}
	}
	return true
}

// advance reads the next block. Of an event block it reads the header.
func (r *Reader) advance() error {
	b, ok, err := r.stream.next()
	if err != nil || !ok {
		return err
	}
	if r.sort != nil && r.known.isPoint(b) {
		// Everything that is held back goes first.
		r.sort.point = b
		return errPoint
	}
	r.apply(b)
	return nil
}

// errPoint tells that the reader has come to a sequence point.
var errPoint = errors.New("nettrace: sequence point")

// apply takes in the contents of a block, up to a fault.
func (r *Reader) apply(b block) {
	err := r.read(b)
	if err == nil {
		return
	}
	mended := r.stream.mend(&b)
	if mended {
		err = errLonger
	}
	r.stream.lose(b.kind, b.off, err) // first, so that what is read of it is not believed as other blocks are
	if mended {
		r.read(b)
	}
}

// read takes in the contents of a block, and returns its fault.
func (r *Reader) read(b block) error {
	switch b.kind {
	case layout.KindEvents:
		err := r.stream.openEvents(b)
		if err == nil {
			r.ahead.refill(&r.stream)
		}
		return err
	case layout.KindMetadata:
		return r.known.addMetadata(b.data, describedLimit(r.stream.src.off))
	case layout.KindStacks:
		return r.known.stacks.add(b.data, r.stream.src.stable())
	case layout.KindSequencePoint:
		return r.known.sequencePoint(b.data)
	case layout.KindThreads:
		return r.known.threads.add(b.data)
	case layout.KindRemoveThreads:
		err := r.known.removeThreads(b.data)
		if err == nil && r.sort == nil {
			r.known.threads.dropRemoved()
		}
		return err
	case layout.KindLabels:
		return r.known.labels.add(b.data)
	case layout.KindUnknown:
		if r.header.Minor == 0 { // later ones may have further kinds
			return layout.Damaged("its kind is not known")
		}
	case layout.KindTrace: // which may have been another block
		return layout.Damaged("a second trace header")
	}
	return nil
}
