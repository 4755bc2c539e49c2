package nettrace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A Reader reads one stream. It is not safe for concurrent use.
type Reader struct {
	src    source
	file   *os.File // that Open opened
	name   string
	blocks container
	v6     bool

	header    Header
	unknown   kindOf // with what all records of the stream have in common
	kinds     table[*kindOf]
	rows      table[*Metadata] // the same as they stand in the stream
	kind      *kindOf          // of the event that was delivered last, or nil
	described int64            // bytes that the metadata takes
	providers map[string]*etw.ProviderDesc
	stacks    stacks
	threads   threads
	labels    labels
	loss      loss
	sort      *sorter // nil in file order
	ahead     *ahead  // nil if all is decoded here

	cur   eventBlock // whose events are being decoded
	point block      // a sequence point before which all that is held goes
	page  *page      // for the next events
	spare *page      // for those after them, or nil
	paged int64      // bytes of the pages that are in use

	// The events[at:to] are next, which are of batch.
	events []event
	at, to int
	batch  *batch
	single batch // the only one, in file order

	stats     Stats
	newest    int64 // time stamp delivered so far
	tried     int64 // offset up to which no block starts that was not read
	reread    int64 // bytes that were read a second time
	ended     bool  // there are no more blocks
	concluded bool  // what was wrong has been said
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
	r := &Reader{src: newSource(src), name: o.name, providers: make(map[string]*etw.ProviderDesc)}
	if err := r.open(); err != nil {
		err.File = o.name
		return nil, err
	}
	if !o.inFileOrder && r.header.Version != 3 { // whose events are in the order of time
		r.sort = newSorter(o.limit)
	}
	if !o.sequential && r.mayPay() {
		r.startAhead(portionBytes / 2)
	}
	return r, nil
}

// open reads the start of the stream.
func (r *Reader) open() *etw.Damage {
	c, version, minor, d := openContainer(&r.src)
	if c == nil {
		return d
	}
	if d != nil {
		r.note(d)
	}
	r.blocks, r.v6 = c, version == 6
	r.loss.v6 = r.v6
	r.header.Version, r.header.Minor = version, int(minor)
	if d, fatal := c.header(&r.src, &r.header); fatal {
		return d
	} else if d != nil {
		r.note(d)
	}
	r.threads.pid = r.header.ProcessID
	r.unknown = kindOf{unknown: true, rare: true, record: etw.Record{
		Kind: etw.KindManifest, PointerSize: r.header.PointerSize, Clock: &r.header.Clock, File: r.name,
		ProcessID: r.header.ProcessID, ThreadID: -1, Stack: etw.Stack{PtrSize: r.header.PointerSize},
	}}
	return nil
}

// Open opens a file. Close closes it.
func Open(path string, opts ...Option) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("nettrace: %w", err)
	}
	r, err := NewReader(f, append([]Option{Named(path)}, opts...)...)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// Close ends the reading, and closes what [Open] opened. It is an error to read on;
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

// Header returns what the stream says of itself as a whole.
func (r *Reader) Header() Header { return r.header }

// Stats returns counts of what has been read so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Bytes = r.src.off
	s.Lost = r.loss.lost
	s.LostByThread = maps.Clone(r.loss.byThread)
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
	r.deliver(rec, r.batch, &r.events[r.at])
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

// conclude returns what is to be said after the last record: once what is wrong,
// and then io.EOF.
func (r *Reader) conclude() error {
	if r.concluded {
		return io.EOF
	}
	r.concluded = true
	if p := r.page; p != nil && p.batches == 0 {
		r.page = nil
		r.giveUp(p)
	}
	if r.spare != nil {
		r.spare.free()
		r.spare = nil
	}
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
		for r.cur.at < len(r.cur.data) {
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

// decode decodes events of the current block into b, or takes what was decoded ahead.
func (r *Reader) decode(b *batch) {
	in := &r.cur
	if r.ahead != nil {
		if done := r.ahead.take(r); done != nil {
			*b = done.batch
			in.at, in.h = done.to, done.h
			r.loss.observe(b, false)
			return
		}
	}
	from, before := in.at, in.h
	b.begin(r.room(), in)
	if r.src.stable() { // what was read into a chunk is in the cache already
		in.warm()
	}
	fits := r.fill(b)
	whole, at := fits && b.inTime(in), in.at
	if !whole {
		err := errTimes
		if !fits {
			err = layout.Damaged("the event does not fit")
		}
		if r.mend(&in.block) {
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
			r.lose(layout.KindEvents, in.off+int64(at), err)
		}
	}
	b.bytes = int64(in.at - from)
	size := b.page.size()
	b.end()
	r.paged += b.page.size() - size
	if r.header.Version != 3 {
		r.loss.observe(b, !whole)
	}
}

// errTimes is for blocks whose events may not be what they seem.
var errTimes = layout.Damaged("the times of events are not those that the block's header gives")

// fill fills b with events of the current block, and reports whether they fit. The
// metadata rows of netperf stand among the events.
func (r *Reader) fill(b *batch) bool {
	in := &r.cur
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
			if err := r.addRow(in.data[payload:payload+int(in.h.Size)], false); err != nil {
				r.lose(layout.KindMetadata, in.off+int64(at), err)
			}
		}
	}
	return true
}

// room returns a page with room for events.
func (r *Reader) room() *page {
	if p := r.page; p == nil || p.isFull() {
		if r.page = r.spare; r.page == nil {
			r.page = pages.Get().(*page)
		}
		r.spare = nil
		r.paged += r.page.size()
		if p != nil && p.batches == 0 {
			r.giveUp(p)
		}
	}
	r.page.batches++
	return r.page
}

// giveUp gives up a page of which all was delivered.
func (r *Reader) giveUp(p *page) {
	r.paged -= p.size()
	if r.spare == nil && !r.concluded {
		p.reset()
		r.spare = p
		return
	}
	p.free()
}

// finish gives up the memory of a batch that was delivered.
func (r *Reader) finish(b *batch) {
	if p := b.page; p != nil {
		b.page = nil
		if p.batches--; p.batches == 0 && p != r.page {
			r.giveUp(p)
		}
	}
	if b.chunk != nil {
		r.src.release(b.chunk)
		b.chunk = nil
	}
}

// advance reads the next block. Of an event block it reads the header.
func (r *Reader) advance() error {
	if r.ended {
		return io.EOF
	}
	cut := r.cur.cut
	r.closeEvents()
	if cut != nil {
		return r.stop(damage(r.src.off, layout.KindEvents.String(), cut))
	}
	b, d := r.blocks.next(&r.src)
	switch {
	case d != nil && errors.Is(d.Err, layout.ErrDamaged):
		r.note(d)
		return r.resume()
	case d != nil:
		return r.stop(d)
	case b.kind == layout.KindEnd:
		return r.end(b)
	}
	r.tried = max(r.tried, b.off)
	if b.cut != nil && b.kind != layout.KindEvents {
		if !r.mend(&b) {
			return r.stop(damage(r.src.off, b.kind.String(), b.cut))
		}
		r.lose(b.kind, b.off, errLonger)
	}
	if r.sort != nil && r.isPoint(b) {
		// Everything that is held back goes first.
		r.point = b
		return errPoint
	}
	r.apply(b)
	return nil
}

// errPoint tells that the reader has come to a sequence point.
var errPoint = errors.New("nettrace: sequence point")

// isPoint reports whether events before b could not be told what they refer to
// once b was read: b is a sequence point, or gives a number of a stack or a label
// list again, behind a sequence point that was lost.
func (r *Reader) isPoint(b block) bool {
	switch b.kind {
	case layout.KindSequencePoint:
		return true
	case layout.KindStacks:
		return firstNumber(b.data) < r.stacks.next()
	case layout.KindLabels:
		return firstNumber(b.data) < r.labels.next
	}
	return false
}

// firstNumber returns the first of the numbers that a block gives.
func firstNumber(data []byte) uint64 {
	c := layout.Cursor{B: data}
	return uint64(c.U32())
}

// end ends the stream at its end marker, if that is the end.
func (r *Reader) end(b block) error {
	if more, _ := r.src.peek(1); len(more) == 0 {
		r.stats.Stopped = true
		return r.stop(nil)
	}
	r.note(damage(b.off, b.kind.String(), layout.Damaged("bytes follow the end marker")))
	err := r.resume()
	r.stats.Stopped = r.ended
	return err
}

// apply takes in what a block says, up to a fault.
func (r *Reader) apply(b block) {
	err := r.read(b)
	if err == nil {
		return
	}
	if r.mend(&b) {
		err = errLonger
		r.read(b)
	}
	r.lose(b.kind, b.off, err)
}

// read takes in what a block says, and returns what is wrong with it.
func (r *Reader) read(b block) error {
	switch b.kind {
	case layout.KindEvents:
		return r.openEvents(b)
	case layout.KindMetadata:
		return r.addMetadata(b.data)
	case layout.KindStacks:
		return r.stacks.add(b.data, r.src.stable())
	case layout.KindSequencePoint:
		return r.sequencePoint(b.data)
	case layout.KindThreads:
		return r.threads.add(b.data)
	case layout.KindRemoveThreads:
		return r.removeThreads(b.data)
	case layout.KindLabels:
		return r.labels.add(b.data)
	case layout.KindUnknown:
		if r.header.Minor == 0 { // later ones may have further kinds
			return layout.Damaged("its kind is not known")
		}
	}
	return nil // a second trace header says nothing new
}

// openEvents makes b the block that is being read.
func (r *Reader) openEvents(b block) error {
	r.closeEvents()
	r.cur = eventBlock{block: b, form: netperf, low: 1}
	if r.header.Version != 3 {
		if err := r.cur.readHeader(r.v6); err != nil {
			if b.cut != nil {
				return nil
			}
			return err
		}
	}
	r.cur.chunk = r.src.hold()
	if r.ahead != nil && b.cut == nil {
		r.ahead.refill(r)
	}
	return nil
}

// closeEvents ends the block that is being read.
func (r *Reader) closeEvents() {
	if r.cur.chunk != nil {
		r.src.release(r.cur.chunk)
	}
	r.cur = eventBlock{}
}
