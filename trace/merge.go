package trace

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/etwgen/etwgen/internal/same"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A Trace is one or several files, read as one in the order of time. It is an
// [etw.Source], and must not be used by several goroutines at once.
type Trace struct {
	files   []*File
	start   etw.FileTime // of the first session
	heads   []*head      // by time, the next record first; built at the first call of Next
	opened  bool
	current bool // the first of heads was delivered
	copies  *copies
	once    *same.Once // of several parts
	errs    []error
	closed  bool
}

// A head is the next record of a file.
type head struct {
	rec  etw.Record
	at   time.Duration // since the first session's start
	file int
}

// Merge reads files, of which there must be at least one, as one trace. Each must
// be in the order of time. Files whose ticks are of one clock are merged to the tick, and an
// event that several sessions of a process recorded comes once. Close closes the files.
func Merge(files ...*File) *Trace {
	if len(files) == 0 {
		panic("trace: Merge of no files")
	}
	shareClocks(files)
	sessions := make([]*recording, len(files))
	for i, f := range files {
		if r, ok := f.Reader().(*nettrace.Reader); ok && f.shared != nil {
			sessions[i] = &recording{r.Header().ProcessID, f.shared, f.own.Origin}
		}
	}
	t := &Trace{files: files, start: files[0].Clock().Start, copies: newCopies(sessions)}
	for _, f := range files[1:] {
		// One without records may not tell when it was.
		if start := f.Clock().Start; start != 0 && (start < t.start || t.start == 0) {
			t.start = start
		}
	}
	return t
}

// Next sets rec to the next record: see [etw.Source]. Of records at the same time
// those of the file that was named first come first.
func (t *Trace) Next(rec *etw.Record) error {
	if len(t.files) == 1 || t.closed {
		return t.files[0].Next(rec)
	}
	if !t.opened {
		t.opened = true
		for i := range t.files {
			if h := (&head{file: i}); t.advance(h) {
				t.insert(h)
			}
		}
	}
	for t.current || len(t.heads) > 0 {
		if t.current {
			h := t.heads[0]
			t.heads = t.heads[1:]
			if t.current = false; t.advance(h) {
				t.insert(h)
			}
			continue
		}
		t.current = true
		if h := t.heads[0]; !t.copies.has(h.file, &h.rec) && !t.once.Repeats(&h.rec) {
			*rec = h.rec
			return nil
		}
	}
	if err := errors.Join(t.errs...); err != nil {
		t.errs = nil
		return err
	}
	return io.EOF
}

// Push calls do with each record that is left and that w wants: see [etw.Pusher]. Of
// several files all records are wanted.
func (t *Trace) Push(ctx context.Context, w *etw.Wants, do func(*etw.Record) error) error {
	if len(t.files) == 1 {
		return t.files[0].Push(ctx, w, do)
	}
	return etw.Push(ctx, struct{ etw.Source }{t}, nil, do)
}

// insert puts h in its place. There are few heads, and mostly h goes to the front.
func (t *Trace) insert(h *head) {
	i, _ := slices.BinarySearchFunc(t.heads, h, func(a, b *head) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.file, b.file))
	})
	t.heads = slices.Insert(t.heads, i, h)
}

// advance reads the next record of a file, and reports false at its end.
func (t *Trace) advance(h *head) bool {
	err := t.files[h.file].Next(&h.rec)
	if err == nil {
		h.at = t.Elapsed(&h.rec)
		return true
	}
	if err != io.EOF {
		t.errs = append(t.errs, err)
	}
	return false
}

// Records iterates over the records that are left: see [etw.Records].
func (t *Trace) Records() iter.Seq2[*etw.Record, error] { return etw.Records(t) }

// Start returns when the first of the sessions started.
func (t *Trace) Start() time.Time { return t.start.Time() }

// Elapsed returns the time from the start of the first session to rec, which is
// one of t.
func (t *Trace) Elapsed(rec *etw.Record) time.Duration {
	return rec.Elapsed() + between(t.start, rec.Clock.Start)
}

// File returns the file that the record is from that Next delivered last.
func (t *Trace) File() *File {
	if len(t.files) > 1 && t.current {
		return t.files[t.heads[0].file]
	}
	return t.files[0]
}

// Files returns the files.
func (t *Trace) Files() []*File { return t.files }

// Stats returns the sums of the files' counts so far.
func (t *Trace) Stats() Stats {
	var sum Stats
	for _, f := range t.files {
		sum = sum.plus(f.Stats())
	}
	sum.Records -= t.Copies()
	return sum
}

// Copies returns how many records were left out so far, since another file had them: those of
// sessions of EventPipe that record one process at the same time. Parts of one session have none.
func (t *Trace) Copies() int64 {
	if t.copies == nil {
		return 0
	}
	return t.copies.found
}

// Progress returns the share that was read, or -1 if it is not known.
func (t *Trace) Progress() float64 {
	least := 1.0
	for _, f := range t.files {
		least = min(least, f.Progress())
	}
	return least
}

// Close closes all files. It is an error to read on.
func (t *Trace) Close() error {
	t.closed = true
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
