package etl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// A Reader reads the records of one or several files in the order of time. It
// must not be used by several goroutines at once.
type Reader struct {
	files   []*file
	closers []io.Closer
	options options
	size    int64 // of all files
	// declared is the size of one buffer for each processor.
	declared int64

	ahead ahead
	merge merge
	// slack is how much earlier than its first record a block is opened, in case
	// that the first is not the earliest.
	slack int64
	// admitted is the number of blocks of the plan that have been opened.
	admitted int
	// current is the block of the last record, and the first of the merge.
	current *block
	// limit is the key up to which the current block goes on alone.
	limit int64
	last  int64 // key of the last record

	filler filler
	stats  Stats
	err    error // what Next returns once there are no more records

	prepared bool
	schemas  *schema.Set
	owners   []classic.Owners // by file.clockGroup
	// settled are the buffers of the plan of which the prepass has learned all.
	settled []bool
}

// Open opens the file at path.
func Open(path string, opts ...Option) (*Reader, error) {
	return open([]string{path}, opts)
}

// OpenAll opens several files to read them as one trace. Files of one session,
// as a tool leaves them that records the kernel and programs apart, are merged
// by their common clock, files of different sessions by their times.
func OpenAll(paths []string, opts ...Option) (*Reader, error) { return open(paths, opts) }

// NewReader reads a file of the given size from src, which it uses from several
// goroutines at once, as an io.ReaderAt allows.
func NewReader(src io.ReaderAt, size int64, opts ...Option) (*Reader, error) {
	o := optionsOf(opts)
	f, err := openFile(o.ctx, src, size, o.name)
	if err != nil {
		return nil, err
	}
	return newReader([]*file{f}, nil, o), nil
}

func open(paths []string, opts []Option) (r *Reader, err error) {
	if len(paths) == 0 {
		return nil, errors.New("etl: no file to open")
	}
	if len(paths) > math.MaxUint16 {
		return nil, fmt.Errorf("etl: %d files are too many", len(paths))
	}
	o := optionsOf(opts)
	var files []*file
	var closers []io.Closer
	defer func() {
		if err != nil {
			for _, c := range closers {
				c.Close()
			}
		}
	}()
	for _, path := range paths {
		src, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("etl: %w", err)
		}
		closers = append(closers, src)
		info, err := src.Stat()
		if err != nil {
			return nil, fmt.Errorf("etl: %w", err)
		}
		f, err := openFile(o.ctx, src, info.Size(), path)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return newReader(files, closers, o), nil
}

func newReader(files []*file, closers []io.Closer, o options) *Reader {
	r := &Reader{files: files, closers: closers, options: o}
	unifyClocks(files)
	r.last = math.MinInt64
	for _, f := range files {
		r.size += f.size
		r.slack = max(r.slack, f.slack())
		r.stats.Lost += int64(f.header.EventsLost)
		r.stats.LostBuffers += int64(f.header.BuffersLost)
		r.stats.MissingBuffers += f.stats.missing
		r.stats.TruncatedBuffers += int64(f.stats.truncated)
		r.stats.UnreadBytes += f.stats.unread
		r.stats.UnwrittenBytes += f.stats.unwritten
		r.addDamage(&f.damage)
	}
	r.ahead.files = files
	r.ahead.plan, r.declared = plan(files)
	return r
}

// Header returns the header of the file that was opened, and for several files
// that of the one whose session began first.
func (r *Reader) Header() Header { return slices.MinFunc(r.files, compareStart).header }

// Headers returns the headers of all files, in the order in which they were
// given.
func (r *Reader) Headers() []Header {
	h := make([]Header, len(r.files))
	for i, f := range r.files {
		h[i] = f.header
	}
	return h
}

// Stats returns the counts so far.
func (r *Reader) Stats() Stats { return r.stats }

// Next sets rec to the next record. Its slices are valid until the next call.
//
// Damaged parts of a file are skipped: they never end the reading before the
// last good record. After it, Next returns an [*etw.IncompleteError] once if
// anything could not be read, and then, or else at once, io.EOF.
func (r *Reader) Next(rec *etw.Record) error {
	if b := r.current; b != nil {
		b.next++
		switch {
		case b.next == len(b.entries):
			r.ahead.release(r.merge.pop())
			r.current = nil
		case b.key() < r.limit:
			return r.deliver(rec, b)
		default:
			r.merge.advance()
			r.current = nil
		}
	}
	b, err := r.choose()
	switch {
	case err != nil:
		return err
	case b == nil:
		return r.end()
	}
	r.current = b
	return r.deliver(rec, b)
}

// canceled returns the error of a context that is done.
func (r *Reader) canceled() error {
	if r.options.ctx.Err() != nil {
		return fmt.Errorf("etl: %s: %w", r.files[0].name, context.Cause(r.options.ctx))
	}
	return nil
}

// choose opens the blocks whose time has come, and returns the one with the
// earliest record, or nil if there are no more.
func (r *Reader) choose() (*block, error) {
	for r.admitted < len(r.ahead.plan) {
		ref := &r.ahead.plan[r.admitted]
		due := saturatingSub(ref.first, r.slack)
		if len(r.merge.open) > 0 {
			if due > r.merge.open[0].key || r.merge.bytes+ref.memory() > r.openLimit() {
				r.limit = min(due, r.merge.until())
				return r.merge.open[0].block, nil
			}
		}
		if err := r.canceled(); err != nil {
			return nil, err
		}
		r.admit()
	}
	if len(r.merge.open) == 0 {
		return nil, nil
	}
	r.limit = r.merge.until()
	return r.merge.open[0].block, nil
}

// openLimit bounds the memory of open blocks. Those of a sound file never come
// near: at any time there is about one for each processor. In a damaged or
// malicious one, all could claim the same time.
func (r *Reader) openLimit() int64 { return 4<<20 + 2*r.size + min(4*r.declared, 32*r.size) }

// admit opens the next block of the plan.
func (r *Reader) admit() {
	b := r.ahead.take()
	i := r.admitted
	r.admitted++
	r.stats.Buffers++
	r.stats.count(b)
	if b.tally.truncated {
		r.stats.TruncatedBuffers++
	}
	if len(b.entries) == 0 {
		r.ahead.release(b)
		return
	}
	if r.owners != nil && !r.settled[i] {
		r.learn(b)
	}
	r.merge.push(b)
}

// deliver sets rec to the next record of b.
func (r *Reader) deliver(rec *etw.Record, b *block) error {
	e := b.entries[b.next]
	r.filler.fill(rec, b, b.record(e), e.key)
	if !r.prepared && !isOpening(rec) {
		if err := r.prepare(); err != nil {
			b.next-- // for another call
			return err
		}
		r.prepared = true
	}
	if e.key < r.last {
		r.stats.OutOfOrder++
	}
	r.last = e.key
	r.stats.Records++
	if r.schemas != nil {
		r.schemas.Describe(rec)
	}
	if r.owners != nil {
		r.owners[b.file.clockGroup].Attribute(rec)
	}
	return nil
}

// end returns the result of Next where there are no more records.
func (r *Reader) end() error {
	if r.err == nil {
		r.err = io.EOF
		for _, f := range r.files {
			var err error
			switch {
			case f.stats.missing > 0 && f.stats.last+1 == int64(f.header.BuffersWritten):
				err = ErrGap
			case f.stats.missing > 0:
				err = ErrMissing
			case f.surplus() > 0:
				err = ErrSurplus
			default:
				continue
			}
			r.stats.Damage.Add(f.damageAt(f.size, "end", fmt.Errorf(
				"%w: the session has written %d, and the file has %d", err, f.header.BuffersWritten, f.stats.found)))
		}
		if err := r.stats.Damage.Err(); err != nil {
			return err
		}
	}
	return r.err
}

// Records iterates over all records that are left, as [etw.Records] does.
func (r *Reader) Records() iter.Seq2[*etw.Record, error] { return etw.Records(r) }

// Close closes the files that Open or OpenAll opened. It is an error to read on;
// the last record is not valid any more.
func (r *Reader) Close() error {
	r.ahead.stop()
	r.admitted = len(r.ahead.plan)
	r.merge, r.current = merge{}, nil
	r.prepared = true
	r.options.ctx = context.Background()
	r.err = errClosed
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	r.closers = nil
	return errors.Join(errs...)
}

var errClosed = fmt.Errorf("etl: %w", fs.ErrClosed)

func saturatingSub(a, b int64) int64 {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}

// addDamage adds the damages of a log to those of r.
func (r *Reader) addDamage(l *etw.DamageLog) {
	for _, d := range l.Damages {
		r.stats.Damage.Add(d)
	}
	r.stats.Damage.Count += l.Count - len(l.Damages)
}
