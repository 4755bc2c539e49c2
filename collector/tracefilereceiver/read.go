package tracefilereceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Orders in which records are counted. Later records may belong before those that were sent,
// in the order of time: of a .nettrace that grows they are counted as they lie there, and of
// an .etl, which is merged of the records of processors, for each of these.
const (
	orderTime      = "time"
	orderFile      = "file"
	orderProcessor = "processor"
)

// trace reads the i-th trace of a file from where it was left. It reports whether it is
// done with, until the file changes.
func (w *worker) trace(stop context.Context, f found, i int, id string, follow bool) (bool, error) {
	id, has, err := w.identify(stop, f, i, id, follow)
	if err != nil {
		return false, err
	}
	known, err := w.store.get(stop, id)
	if err != nil {
		return false, &againError{err}
	}
	if known.Done && slices.Contains(known.Read, f.form()) {
		known.Seen = time.Now()
		w.store.set(id, known)
		return true, nil
	}
	if known.Content == nil || has.records() > known.Content.records() {
		known.Content = has
	}
	if known.Order == "" || known.Order == orderTime && known.Records > 0 && !known.Done {
		order, err := w.orderOf(stop, f, i, follow)
		if err != nil {
			return true, err
		}
		if known.Order == orderTime && order != orderTime {
			return true, errNoEnd
		}
		known.Order = order
	}
	r := &reading{w: w, id: id, index: i, state: known, found: f, follow: follow, before: known.Records, watch: w.watch(f)}
	if r.file, err = r.open(stop, i); err != nil {
		return true, r.watch.or(err)
	}
	defer r.file.Close()
	r.state.Name = filepath.Base(f.path)
	r.state.Sent, r.sent = maps.Clone(known.Sent), known.Sent
	return r.run(stop)
}

// open opens the i-th trace of the file.
func (r *reading) open(stop context.Context, i int) (*trace.File, error) {
	opts := []trace.Option{trace.WithContext(stop), trace.WithReaderAt(r.watch.file)}
	if r.state.Order == orderFile {
		opts = append(opts, trace.WithFileOrder())
	}
	if r.follow {
		f, err := os.Open(r.found.path)
		if err != nil {
			return nil, err
		}
		r.grows = &growing{stop: stop, f: f, every: r.w.cfg.PollInterval, patience: r.w.cfg.FollowTimeout, watch: r.watch}
		t, err := trace.Read(r.found.path, r.grows, opts...)
		if err != nil {
			return nil, err
		}
		return t.Files()[0], nil
	}
	files, err := trace.OpenFiles(r.found.path, opts...)
	if err != nil {
		return nil, err
	}
	for j, f := range files {
		if j != i {
			f.Close()
		}
	}
	if i >= len(files) {
		return nil, errChanged
	}
	return files[i], nil
}

var (
	errChanged = errors.New("it has changed while it was read")
	errNoEnd   = errors.New("its end is gone since reading it began: the rest is sent once the end is there again")
)

// A reading is that of one trace.
type reading struct {
	w      *worker
	id     string
	index  int // among the traces of its file
	state  state
	file   *trace.File
	found  found
	watch  *watch
	grows  *growing        // nil if it is not followed
	before int64           // records that were sent already
	sent   map[int32]int64 // those of each processor
	seen   map[int32]int64
	follow bool
	stream *flow.Stream
	limit  int64 // records that the rate limit has let through
}

// run reads the trace to its end, and reports whether that was reached.
func (r *reading) run(stop context.Context) (bool, error) {
	r.seen = make(map[int32]int64)
	if r.state.Sent == nil {
		r.state.Sent = make(map[int32]int64)
	}
	format, _, _ := strings.Cut(r.file.Format(), " ")
	r.stream = flow.NewStream(flow.StreamConfig{
		Sender: &r.w.core.Sender, Tel: r.w.core.Tel, Format: format, Batch: r.w.cfg.Batch, Output: r.w.cfg.Output, Events: r.w.event, Manifests: r.w.core.Manifests,
		Metrics: r.w.cfg.Metrics, Resource: r.resource(), Acknowledged: func(n int64) error { return r.acknowledged(stop, n) },
		Counted: r.counted,
	})
	end := r.flushOften(stop)
	trouble, err := r.records(stop)
	end()
	if err == nil {
		err = r.stream.Flush(true)
	}
	if failed := r.watch.err(); err == nil && failed != nil && stop.Err() == nil {
		return false, failed
	}
	if err == nil && stop.Err() == nil {
		err = r.finish(stop)
	}
	if errors.Is(err, flow.ErrStopped) || stop.Err() != nil {
		return false, nil
	}
	if err == nil && trouble != nil {
		err = &partError{trouble, r.stream.Records()}
	}
	if n := r.stream.Records(); err == nil && n < r.before {
		err = fmt.Errorf("it has %d events, and %d were sent of the trace that begins like it: nothing of it is new", n, r.before)
	}
	return true, err
}

// records reads all records. Trouble is the fault of the trace, of which the good part was
// read.
func (r *reading) records(stop context.Context) (trouble, err error) {
	var rec etw.Record
	for n := int64(0); ; n++ {
		if n%64 == 0 && stop.Err() != nil {
			return trouble, nil
		}
		err = r.file.Next(&rec)
		if r.watch.err() != nil {
			return nil, nil // what comes now need not be what would be next
		}
		switch {
		case err == io.EOF:
			return trouble, nil
		case errors.Is(err, etw.ErrIncomplete):
			trouble = err
			n--
			continue
		case err != nil:
			return err, nil
		}
		if r.wasSent(&rec, n) {
			r.stream.Skip(&rec)
			continue
		}
		if err := r.stream.Take(&rec); err != nil {
			return trouble, err
		}
	}
}

// wasSent reports whether the n-th record was sent before.
func (r *reading) wasSent(rec *etw.Record, n int64) bool {
	if r.state.Order == orderProcessor {
		return r.seen[rec.Processor] < r.sent[rec.Processor]
	}
	return n < r.before
}

// counted counts a record of a processor.
func (r *reading) counted(rec *etw.Record) {
	if r.state.Order == orderProcessor {
		r.seen[rec.Processor]++
	}
}

// flushOften has a batch that does not become full given away all the same, which is so
// where a file is followed.
func (r *reading) flushOften(stop context.Context) (end func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for flow.Sleep(done, r.w.cfg.Batch.MaxDelay) && stop.Err() == nil {
			if r.stream.Flush(false) != nil {
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// acknowledged keeps that records were taken by the pipelines, and holds to the rate.
func (r *reading) acknowledged(stop context.Context, n int64) error {
	if r.state.Order == orderProcessor {
		n = 0
		for p, seen := range r.seen {
			r.state.Sent[p] = max(r.state.Sent[p], seen)
		}
		for _, sent := range r.state.Sent {
			n += sent
		}
	}
	added := n - max(r.limit, r.state.Records)
	r.state.Records = max(r.state.Records, n)
	r.limit = r.state.Records
	r.state.Seen = time.Now()
	r.w.store.set(r.id, r.state)
	r.w.limit.wait(stop, added)
	return nil
}

// finish passes on the facts known at the end, and notes that the trace is done with. A copy
// of one that was read brings nothing new.
func (r *reading) finish(stop context.Context) error {
	stats := r.file.Stats()
	lost, damaged := max(stats.Lost-r.state.Lost, 0), max(stats.Undecodable-r.state.Damaged, 0)
	copied := r.state.Done && r.stream.Records() <= r.before
	if !copied {
		if err := r.stream.SendMetrics(); err != nil {
			return err
		}
		if err := r.profiles(stop); err != nil {
			return err
		}
		if err := errors.Join(r.stream.Lose(lost, flow.PlaceTrace, 0), r.stream.Lose(damaged, flow.PlaceDecode, 0)); err != nil {
			return err
		}
		r.state.Read = nil
	}
	as := r.found
	if r.grows != nil {
		as = r.grows.last // it has grown since it was found
	}
	read := append(slices.Clone(r.state.Read), as.form())
	r.state.Read = read[max(len(read)-maxForms, 0):]
	r.state.Done, r.state.Lost, r.state.Damaged, r.state.Seen = true, r.state.Lost+lost, r.state.Damaged+damaged, time.Now()
	r.state.Records = max(r.state.Records, r.stream.Records())
	r.w.store.set(r.id, r.state)
	if copied {
		r.w.core.Set.Logger.Info("a copy of a trace that was read: nothing is new", zap.String("name", r.file.Name()))
		return nil
	}
	r.w.core.Tel.File(1, "done")
	r.w.count(r.stream.Records()-r.before, lost)
	r.w.core.Set.Logger.Info("a trace is read", zap.String("name", r.file.Name()), zap.Int64("events", r.stream.Records()), zap.Int64("new", r.stream.Records()-r.before), zap.Int64("lost", lost))
	return nil
}

// maxForms is how many forms of one trace are known without unpacking them.
const maxForms = 8

// resource returns the source of the records of a trace. Whose recording it is the configuration says,
// the path, and keys in the header, the first of these counting most.
func (r *reading) resource() []otlp.Attribute {
	list := []otlp.Attribute{{Key: "log.file.name", Value: filepath.Base(filepath.ToSlash(r.file.Name()))}}
	owner := make(parquet.Resource)
	for _, fact := range r.file.Facts() {
		switch v := fact.Value.(type) {
		case int64:
			if fact.Key == "pid" {
				list = append(list, otlp.Attribute{Key: "process.pid", Value: v})
			}
		case map[string]string:
			if fact.Key == "keys" && r.file.Head().Recorder != trace.Windows {
				maps.Copy(owner, parquet.HeaderResource(v))
			}
		}
	}
	if p := r.w.pattern; p != nil {
		found, ok := p.Match(r.found.path)
		if !ok {
			r.w.core.Set.Logger.Warn("from_path is no pattern of a path", zap.String("path", r.found.path))
		}
		maps.Copy(owner, found)
	}
	for key, value := range r.w.cfg.Resource {
		owner[parquet.KeyOf(key)] = value
	}
	for _, key := range slices.Sorted(maps.Keys(owner)) {
		list = append(list, otlp.Attribute{Key: key, Value: owner[key]})
	}
	return list
}

// A growing is a file of which the end is not the end: more may come, until its blocks
// say that they are all, or nothing has come for long.
type growing struct {
	stop     context.Context
	f        *os.File
	every    time.Duration
	patience time.Duration
	watch    *watch
	last     found // as it was before the last try to read
	checked  int64 // the size at which the blocks were looked at
	idle     time.Duration
}

func (g *growing) Read(p []byte) (int, error) {
	for {
		info, err := g.f.Stat()
		if err != nil {
			g.watch.fail(err)
			return 0, err
		}
		g.last = found{g.f.Name(), info.Size(), info.ModTime()}
		n, err := g.f.Read(p)
		if n > 0 {
			g.idle = 0
		}
		if err != nil && err != io.EOF {
			g.watch.fail(err)
		}
		if n > 0 || err != io.EOF || g.ended() || g.idle >= g.patience {
			return n, err
		}
		if !flow.Sleep(g.stop.Done(), g.every) {
			return 0, context.Cause(g.stop)
		}
		g.idle += g.every
	}
}

// ended reports whether the file has its end.
func (g *growing) ended() bool {
	info, err := g.f.Stat()
	if err != nil || info.Size() == g.checked {
		return false
	}
	g.checked = info.Size()
	whole, _ := blocksEnd(g.f)
	return whole
}

// Close closes the file.
func (g *growing) Close() error { return g.f.Close() }
