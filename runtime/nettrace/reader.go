package nettrace

import (
	"errors"
	"io"
	"iter"
	"maps"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Reader reads one stream. It is not safe for concurrent use.
type Reader struct {
	src    source
	file   *os.File // that Open opened
	blocks container
	v6     bool

	header    Header
	clock     *etw.Clock
	metadata  table[*metadata]
	providers map[string]*etw.ProviderDesc
	stacks    stacks
	threads   threads
	labels    labels
	loss      loss
	sort      *sorter // nil in file order

	cur    eventBlock // that is being read
	stats  Stats
	newest int64       // time stamp delivered so far
	last   *eventBlock // that stands at the last record delivered
	damage error       // the first fault inside of a block
	err    error       // sticky
}

// NewReader reads the start of a stream up to the trace header, and returns a
// reader for the rest. It buffers, but never waits for more than it needs, so the
// stream may be that of a live session.
func NewReader(src io.Reader, opts ...Option) (*Reader, error) {
	r := &Reader{src: source{r: src}, providers: make(map[string]*etw.ProviderDesc)}
	o := options{limit: defaultSortLimit}
	for _, opt := range opts {
		opt(&o)
	}
	c, major, minor, err := openContainer(&r.src)
	if err != nil {
		return nil, err
	}
	r.blocks, r.v6 = c, major == 6
	r.loss.v6 = r.v6
	r.header.Version, r.header.Minor = int(major), int(minor)
	b, err := c.next(&r.src)
	if err != nil {
		return nil, err
	}
	if b.kind != kindTrace {
		return nil, &Error{b.off, b.kind.String(), damaged("the stream does not start with a trace header")}
	}
	if b.cut {
		return nil, &Error{b.off, kindTrace.String(), ErrTruncated}
	}
	if err := r.header.read(b.data, r.v6); err != nil {
		return nil, &Error{b.off, kindTrace.String(), err}
	}
	r.threads.pid = r.header.ProcessID
	if o.sorted && major != 3 { // whose events are in the order of time
		r.sort = newSorter(o.limit)
	}
	r.clock = &r.header.Clock
	return r, nil
}

// Open opens a file. Close closes it.
func Open(path string, opts ...Option) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, opts...)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// Close closes what [Open] opened. A reader of NewReader has nothing to close.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

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

// Records iterates over the records that are left. It ends after the last one or
// after an error, except that iteration may go on after [ErrSortLimit]. The
// record is reused: it is valid until the next iteration.
func (r *Reader) Records() iter.Seq2[*etw.Record, error] {
	return func(yield func(*etw.Record, error) bool) {
		var rec etw.Record
		for {
			switch err := r.Next(&rec); {
			case err == nil:
				if !yield(&rec, nil) {
					return
				}
			case err == io.EOF:
				return
			default:
				if !yield(nil, err) || err != ErrSortLimit {
					return
				}
			}
		}
	}
}

// Next reads the next record into rec, all of whose fields it sets. The memory
// that rec then points to is valid until the next call.
//
// After the last record Next returns io.EOF. For a stream that has no end, or
// parts that cannot be read, it returns [ErrNotStopped], [ErrTruncated] or
// [ErrDamaged] in place of it, after all records that are whole. Every error but
// [ErrSortLimit] is final.
func (r *Reader) Next(rec *etw.Record) error {
	if r.sort != nil {
		return r.nextSorted(rec)
	}
	if err := r.scan(); err != nil {
		return err
	}
	r.deliver(rec, &r.cur)
	return nil
}

// scan moves cur to the next event of the stream and reads what is in the way.
func (r *Reader) scan() error {
	b := &r.cur
	for {
		for b.at < len(b.data) {
			at := b.at
			if !b.next() {
				if !b.cut { // where the stream ends, advance says so
					r.lose(kindEvents, b.off+int64(at), damaged("the event does not fit"))
				}
				b.at = len(b.data)
				break
			}
			switch {
			case b.layout == netperf:
				if b.h.metadata == 0 {
					r.addRow(b.data[b.payload:b.payload+int(b.h.size)], false)
					continue
				}
			case b.h.flags&flagCapture != 0 || b.first:
				b.first = false
				r.loss.observe(b.h.capture, b.h.sequence)
			default:
				r.loss.cur.last = b.h.sequence
			}
			return nil
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
}

// lose notes a fault inside of a block. What is left of the block is given up, but
// where the next one begins is known.
func (r *Reader) lose(k kind, off int64, err error) {
	r.stats.DamagedBlocks++
	if r.damage == nil {
		r.damage = &Error{off, k.String(), err}
	}
}

// stop makes err final, or if that says how the stream ends, the first fault that
// is in it.
func (r *Reader) stop(err error) error {
	if r.damage != nil && endsStream(err) {
		err = r.damage
	}
	r.err = err
	r.cur = eventBlock{}
	return err
}

// endsStream reports whether err is about the stream, not about reading it.
func endsStream(err error) bool {
	return err == io.EOF || errors.Is(err, ErrNotStopped) || errors.Is(err, ErrTruncated) || errors.Is(err, ErrDamaged)
}

// advance reads the next block. Of an event block it reads the header.
func (r *Reader) advance() error {
	if r.err != nil {
		return r.err
	}
	if r.cur.cut {
		return r.stop(&Error{r.src.off, kindEvents.String(), ErrTruncated})
	}
	b, err := r.blocks.next(&r.src)
	if err != nil {
		return r.stop(err)
	}
	if b.kind == kindEnd {
		r.stats.Stopped = true
		return r.stop(io.EOF)
	}
	if b.cut && b.kind != kindEvents {
		return r.stop(&Error{r.src.off, b.kind.String(), ErrTruncated})
	}
	if b.kind == kindSequencePoint && r.sort != nil {
		// Everything that is held back goes first.
		r.sort.point = b
		return errPoint
	}
	r.apply(b)
	return nil
}

// apply takes in what a block says, up to a fault.
func (r *Reader) apply(b block) {
	if err := r.read(b); err != nil {
		r.lose(b.kind, b.off, err)
	}
}

// read takes in what a block says, and returns what is wrong with it.
func (r *Reader) read(b block) error {
	switch b.kind {
	case kindEvents:
		return r.openEvents(b)
	case kindMetadata:
		return r.addMetadata(b.data)
	case kindStacks:
		return r.stacks.add(b.data)
	case kindSequencePoint:
		return r.sequencePoint(b.data)
	case kindThreads:
		return r.threads.add(b.data)
	case kindRemoveThreads:
		return r.removeThreads(b.data)
	case kindLabels:
		return r.labels.add(b.data)
	}
	return nil // a second trace header says nothing new
}

// openEvents makes b the block that is being read.
func (r *Reader) openEvents(b block) error {
	r.cur = eventBlock{off: b.off, data: b.data, cut: b.cut, first: true, layout: netperf}
	if r.header.Version != 3 {
		size, layout, ok := eventsHeader(b.data, r.v6)
		if !ok {
			r.cur.data = nil
			if b.cut {
				return nil
			}
			return damaged("its header of %d bytes does not fit", size)
		}
		r.cur.at, r.cur.layout = size, layout
	}
	if r.sort != nil {
		r.sort.hold(&r.cur)
	}
	return nil
}
