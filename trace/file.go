package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A File is one trace: a file, a member of an archive, a stream, or several .etl
// files of one session. It is an [etw.Source].
type File struct {
	r       reader
	name    string
	packing []string    // how it is packed, outermost first
	size    int64       // of the file, or -1
	read    *counter    // what was read of the file, if it is read as a stream
	failed  error       // why the stream that it was copied from ended early
	packed  io.Reader   // the rest of what it is unpacked from, which ends with a checksum
	excerpt int64       // how many bytes are read, if it is only a part
	archive string      // that it is a member of
	rest    error       // why other traces of its archive are not read
	closers []io.Closer // what to close with it
	part    *Part       // of another trace that it is, or nil
	parts   bool        // it is several files, which are different parts
	marked  bool        // the mark of that is an event
	marks   int64       // of which so many were left out

	own    etw.Clock  // of its records, which have shared instead
	shared *etw.Clock // with other files, or nil

	last    int64 // time stamp of the latest record, by lastOf
	lastOf  *etw.Clock
	ended   bool
	closed  bool
	trouble error // what Next returned at the end, if not io.EOF
}

// A reader is the part that differs between the formats.
type reader interface {
	etw.Source
	io.Closer
	reader() etw.Source
	format() string
	clock() etw.Clock
	head() Head
	stats() Stats
	facts(f *File) facts
	// share returns the part of the trace that was read when f.last was, or -1 if
	// the format does not tell.
	share(f *File) float64
}

// Stats are counts of the reading.
type Stats struct {
	Records     int64 // delivered
	Lost        int64 // events that the session could not record
	LostBuffers int64 // buffers that the session could not record
	Undecodable int64 // records that are damaged, and so were not delivered
	OutOfOrder  int64 // records that were delivered after later ones, although sorted
}

func (s Stats) plus(t Stats) Stats {
	return Stats{s.Records + t.Records, s.Lost + t.Lost, s.LostBuffers + t.LostBuffers, s.Undecodable + t.Undecodable, s.OutOfOrder + t.OutOfOrder}
}

// A pusher is a reader that leaves out records, and knows itself how far it is.
type pusher interface {
	etw.Pusher
	Ended() bool
}

// A Fact is one thing that a trace says of itself.
type Fact struct {
	Key   string // for programs, such as "pointerSize" or "durationMs"
	Value any    // for JSON, in the unit that ends the key
	Text  string // for people, with its unit
}

// Name is that of the file, followed by that of the member of an archive.
func (f *File) Name() string { return f.name }

// Format is the name and version of the format, such as "nettrace 4".
func (f *File) Format() string { return f.r.format() }

// Clock is that of the session. Files that are read as one share it where their ticks are of
// one clock.
func (f *File) Clock() etw.Clock {
	if f.shared != nil {
		return *f.shared
	}
	return f.r.clock()
}

// Reader returns the reader of the file's format: an [*etl.Reader] or a [*nettrace.Reader],
// which knows more of the record that Next delivered last, or the argument of [Of]. It is
// not to be read from.
func (f *File) Reader() etw.Source { return f.r.reader() }

// Stats returns the counts so far.
func (f *File) Stats() Stats {
	return f.r.stats().plus(Stats{Records: -f.marks})
}

// Next sets rec to the next record: see [etw.Source].
func (f *File) Next(rec *etw.Record) error {
	switch {
	case f.closed:
		return inFile(f.name, fs.ErrClosed)
	case f.ended:
		return io.EOF
	}
	err := f.r.Next(rec)
	for ; err == nil && f.marked && isMark(rec); f.marks++ {
		err = f.r.Next(rec)
	}
	if err == nil {
		if rec.File == "" {
			rec.File = f.name
		}
		if rec.Clock != f.lastOf || rec.Timestamp > f.last {
			f.last, f.lastOf = rec.Timestamp, rec.Clock
		}
		if f.shared != nil && rec.Clock != nil && *rec.Clock == f.own {
			rec.Clock = f.shared
		}
		return nil
	}
	return f.end(err)
}

// Push calls do with each record that is left and that w wants: see [etw.Pusher].
func (f *File) Push(ctx context.Context, w *etw.Wants, do func(*etw.Record) error) error {
	p, ok := f.r.(pusher)
	if !ok {
		return etw.Push(ctx, struct{ etw.Source }{f}, nil, do)
	}
	if f.closed {
		return inFile(f.name, fs.ErrClosed)
	}
	if f.ended {
		return nil
	}
	if f.marked {
		do = unmarked(do, &f.marks)
	}
	err := p.Push(ctx, w, do)
	switch {
	case !p.Ended() && f.closed: // by do
		return inFile(f.name, fs.ErrClosed)
	case !p.Ended():
		return err
	case err == nil:
		err = io.EOF
	}
	if err = f.end(err); err == io.EOF {
		return nil
	}
	return err
}

// end returns the error after the last record, where the reader says err.
func (f *File) end(err error) error {
	f.ended = true
	if err == io.EOF && f.packed != nil {
		_, f.failed = io.Copy(io.Discard, f.packed)
	}
	if f.failed != nil { // which is why there is no more
		err = &incomplete{f.failed}
	}
	if err == io.EOF {
		err = nil
	} else {
		f.trouble = err
		err = inFile(f.name, err)
	}
	switch {
	case f.rest != nil && err != nil:
		return fmt.Errorf("%w; %w", err, f.rest)
	case f.rest != nil:
		return inFile(f.archive, f.rest)
	case err != nil:
		return err
	}
	return io.EOF
}

// Records iterates over the records that are left: see [etw.Records].
func (f *File) Records() iter.Seq2[*etw.Record, error] { return etw.Records(f) }

// Facts returns the trace's own account. Some of it is known only after the last record.
func (f *File) Facts() []Fact {
	list := f.r.facts(f)
	if f.part != nil {
		list.add("part", f.part, "of another trace: "+f.part.String())
	}
	return list
}

// Progress returns the share of the trace that was read, or -1 if it is not
// known.
func (f *File) Progress() float64 {
	if f.ended {
		return 1
	}
	if f.size > 0 && f.read != nil {
		return min(float64(f.read.n)/float64(f.size), 1)
	}
	return f.r.share(f)
}

// Close closes the file. It is an error to read on.
func (f *File) Close() error {
	f.closed = true
	errs := []error{f.r.Close()}
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	f.closers = nil
	return errors.Join(errs...)
}
