package trace

import (
	"container/heap"
	"errors"
	"io"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Timeline is one or several traces, read as one in the order of time.
type Timeline struct {
	sources []Source
	first   etw.FileTime // start of the first session
	heap    heads
	current *head // of the last record, which is the heap's first
	opened  bool
	errs    []error
}

// A head is the next record of a source.
type head struct {
	rec    etw.Record
	at     time.Duration // since the first session's start
	source int
}

// OpenTimeline opens traces to be read as one. All of them must open.
func OpenTimeline(paths []string, opts Options) (*Timeline, error) {
	opts.Sorted = true
	t := new(Timeline)
	if one := openSession(paths, opts); one != nil {
		t.sources = []Source{one}
	} else {
		for _, path := range paths {
			more, err := Open(path, opts)
			if err != nil {
				t.Close()
				return nil, err
			}
			t.sources = append(t.sources, more...)
		}
	}
	t.first = t.sources[0].Clock().Start
	for _, s := range t.sources {
		t.first = min(t.first, s.Clock().Start)
	}
	return t, nil
}

// openSession opens several .etl files by the reader's own merge, which for
// files of one session is exact to the tick. It returns nil for other files.
func openSession(paths []string, opts Options) Source {
	if len(paths) < 2 {
		return nil
	}
	for _, path := range paths {
		if !isETLFile(path) {
			return nil
		}
	}
	o := &opening{Options: opts, size: -1} // each damage names its file
	r, err := etl.OpenAll(paths, opts.etlOptions()...)
	if err != nil {
		return nil // opening them one by one says what is wrong
	}
	return newETL(o, r)
}

// Next sets rec to the next record and returns the time since the start of the
// first session. Errors are those of a Source.
func (t *Timeline) Next(rec *etw.Record) (time.Duration, error) {
	if len(t.sources) == 1 {
		if err := t.sources[0].Next(rec); err != nil {
			return 0, err
		}
		return t.elapsed(rec), nil
	}
	if !t.opened {
		t.opened = true
		for i := range t.sources {
			if h := (&head{source: i}); t.advance(h) {
				heap.Push(&t.heap, h)
			}
		}
	}
	if h := t.current; h != nil {
		t.current = nil
		if t.advance(h) {
			heap.Fix(&t.heap, 0)
		} else {
			heap.Pop(&t.heap)
		}
	}
	if len(t.errs) > 0 {
		err := t.errs[0]
		t.errs = t.errs[1:]
		return 0, err
	}
	if len(t.heap) == 0 {
		return 0, io.EOF
	}
	t.current = t.heap[0]
	*rec = t.current.rec
	return t.current.at, nil
}

// advance reads the next record of a source, and reports false at its end.
func (t *Timeline) advance(h *head) bool {
	for {
		err := t.sources[h.source].Next(&h.rec)
		if err == nil {
			h.at = t.elapsed(&h.rec)
			return true
		}
		if err == io.EOF {
			return false
		}
		t.errs = append(t.errs, err)
	}
}

// elapsed returns the time from the start of the first session to a record.
func (t *Timeline) elapsed(rec *etw.Record) time.Duration {
	return rec.Elapsed() + between(t.first, rec.Clock.Start)
}

// Sources returns the traces.
func (t *Timeline) Sources() []Source { return t.sources }

// Progress returns the share that was read, or -1 if it is not known.
func (t *Timeline) Progress() float64 {
	least := 1.0
	for _, s := range t.sources {
		least = min(least, s.Progress())
	}
	return least
}

// Close closes all traces.
func (t *Timeline) Close() error {
	var errs []error
	for _, s := range t.sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// heads is a heap of records by time, and by the order of the sources where that
// is equal.
type heads []*head

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].source < h[j].source
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(*head)) }

func (h *heads) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
