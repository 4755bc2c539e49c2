package tracefilereceiver

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/trace"
)

// A worker looks for files and reads them, each once.
type worker struct {
	cfg     *Config
	core    *flow.Core
	host    component.Host
	store   *checkpoints
	limit   limiter
	event   *flow.Events     // those that are chosen
	pattern *parquet.Pattern // of paths, or nil
	slots   chan struct{}
	// medium reads files, nil for themselves.
	medium func(io.ReaderAt) io.ReaderAt
	wg     sync.WaitGroup

	mu      sync.Mutex
	looked  map[string]found // at what was read of it, or failed, as it was then
	reading map[string]bool  // paths
	pauses  map[string]pause // of those that could not be read
	taken   map[string]bool  // identities that are being read
	idle    bool             // it was said that all is read
	files   int
	events  int64
	lost    int64
}

func newWorker(cfg *Config, core *flow.Core) *worker {
	var pattern *parquet.Pattern
	if cfg.FromPath != "" {
		pattern, _ = parquet.ParsePattern(cfg.FromPath) // it was checked
	}
	return &worker{pattern: pattern, cfg: cfg, core: core, looked: make(map[string]found), reading: make(map[string]bool), pauses: make(map[string]pause), taken: make(map[string]bool), slots: make(chan struct{}, cfg.MaxConcurrentFiles), limit: limiter{perSecond: cfg.RateLimit}, event: flow.NewEvents(cfg.Events)}
}

// Open opens the storage.
func (w *worker) Open(ctx context.Context, host component.Host) (err error) {
	w.host = host
	w.store, err = openCheckpoints(ctx, w, host)
	return err
}

// Run reads the files that are there, and those that come.
func (w *worker) Run(stop context.Context) {
	defer w.wg.Wait()
	w.sayEmpty()
	if w.cfg.Follow { // there may never be a time at which all is read
		w.wg.Go(func() { w.event.Matched().SayAfter(stop, w.core.Set.Logger) })
	}
	for {
		left := w.look(stop)
		if stop.Err() != nil {
			return
		}
		if !w.cfg.Follow {
			w.wg.Wait()
		}
		if !left {
			w.sayDone(stop)
		}
		if !flow.Sleep(stop.Done(), w.cfg.PollInterval) {
			return
		}
	}
}

// Close closes the storage.
func (w *worker) Close() error { return w.store.close() }

// look begins to read the files that are new or have grown. It reports whether some are left
// for the next time.
func (w *worker) look(stop context.Context) (left bool) {
	all := find(w.cfg.Include, w.cfg.Exclude)
	w.forget(all)
	var whole []found
	for _, f := range all {
		switch {
		case !w.wanted(f):
		case w.cfg.Follow && grows(f.path):
			if w.begin(f) {
				w.wg.Go(func() { w.end(f, w.file(stop, f, true)) })
			}
		case time.Since(f.changed) < w.cfg.PollInterval:
			w.setIdle(false) // it is still written
			left = true
		default:
			whole = append(whole, f)
		}
	}
	var soon <-chan time.Time // when to look again for files to follow, however many wait
	if w.cfg.Follow {
		soon = time.After(w.cfg.PollInterval)
	}
	for _, f := range whole {
		select {
		case w.slots <- struct{}{}:
		case <-soon:
			return true
		case <-stop.Done():
			return true
		}
		if !w.begin(f) {
			<-w.slots
			continue
		}
		w.wg.Go(func() {
			done := w.file(stop, f, false)
			<-w.slots
			w.end(f, done)
		})
	}
	return left
}

// wanted reports whether a file is to be read, as far as is known now.
func (w *worker) wanted(f found) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.reading[f.path] && w.looked[f.path] != f && !w.pauses[f.path].holds(f)
}

// forget forgets the pauses of files that are gone.
func (w *worker) forget(all []found) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.pauses, func(path string, _ pause) bool {
		return !slices.ContainsFunc(all, func(f found) bool { return f.path == path })
	})
}

// begin reports whether a file is to be read, and then is the one who does.
func (w *worker) begin(f found) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reading[f.path] || w.looked[f.path] == f {
		return false
	}
	w.reading[f.path] = true
	w.idle = false
	w.core.Tel.File(1, "reading")
	return true
}

// end ends the reading of a file. Of one that is done with, nothing is read before it
// changes.
func (w *worker) end(f found, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.reading, f.path)
	w.core.Tel.File(-1, "reading")
	if done {
		w.looked[f.path] = f
		delete(w.pauses, f.path)
	}
}

func (w *worker) setIdle(idle bool) (was bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, w.idle = w.idle, idle
	return was
}

// sayDone says once that all files are read.
func (w *worker) sayDone(stop context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle || len(w.reading) > 0 || len(w.pauses) > 0 || stop.Err() != nil {
		return
	}
	w.idle = true
	w.core.Set.Logger.Info("all files are read; waiting for more", zap.Int("files", w.files), zap.Int64("events", w.events), zap.Int64("lost", w.lost))
	if w.events > 0 {
		w.event.Matched().Say(w.core.Set.Logger)
	}
}

// count adds to the report at the end.
func (w *worker) count(events, lost int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files++
	w.events += events
	w.lost += lost
}

// grows reports whether a file may be one that is still written, and can be followed. Of one
// that has its end nothing is to be waited for.
func grows(path string) bool {
	if !isNettrace(path) {
		return false
	}
	whole, err := hasEnd(path)
	return err != nil || !whole
}

func (w *worker) watch(f found) *watch { return &watch{found: f, medium: w.medium} }

// isNettrace reports whether a file begins as one that can be followed.
func isNettrace(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [8]byte
	n, _ := f.Read(magic[:])
	return n == len(magic) && string(magic[:]) == "Nettrace"
}

// file reads the traces in one file. It reports whether the file is done with, until it
// changes.
func (w *worker) file(stop context.Context, f found, follow bool) bool {
	watch := w.watch(f)
	ids, err := identities(stop, f.path, watch)
	if err != nil || !follow {
		err = watch.or(err)
	}
	switch {
	case stop.Err() != nil:
		return false
	case err != nil && follow && errors.Is(err, errNothingYet):
		return false
	case err != nil:
		return !w.failed(f, err)
	}
	done := true
	for i, id := range ids {
		if id == "" {
			done = done && !follow
			continue
		}
		if !w.take(id) {
			done = false // the same trace lies elsewhere, too: what is more here comes then
			continue
		}
		ok, err := w.trace(stop, f, i, id, follow)
		w.give(id)
		if stop.Err() != nil {
			return false
		}
		if err != nil && w.failed(f, err) {
			ok = false
		}
		done = done && ok
	}
	return done
}

// take reports whether nobody else reads a trace.
func (w *worker) take(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken[id] {
		return false
	}
	w.taken[id] = true
	return true
}

func (w *worker) give(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.taken, id)
}

// failed reports the fault of a file. It reports whether that may pass, so that the file is
// to be tried again, later each time.
func (w *worker) failed(f found, err error) bool {
	path := f.path
	if err = again(err); errors.As(err, new(*againError)) {
		w.mu.Lock()
		p := w.pauses[path]
		w.pauses[path] = p.longer(f, w.cfg.PollInterval)
		w.mu.Unlock()
		if !p.of.same(f) {
			w.core.Tel.File(1, "failed")
		}
		w.core.Set.Logger.Warn("a file cannot be read now; it is tried again", zap.String("path", path), zap.Error(err))
		return true
	}
	w.core.Tel.File(1, "failed")
	var part *partError
	switch {
	case errors.As(err, &part):
		w.core.Set.Logger.Warn("a file breaks off, or is damaged; it is read as far as it goes", zap.String("path", path), zap.Int64("events", part.records), zap.String("place", part.Error()))
	case errors.Is(err, trace.ErrFormat) || errors.Is(err, trace.ErrEmpty) || errors.Is(err, errProfile):
		w.core.Set.Logger.Info("a file is left out", zap.String("path", path), zap.String("cause", err.Error()))
	default:
		w.core.Set.Logger.Warn("a file cannot be read", zap.String("path", path), zap.Error(err))
	}
	return false
}

// A partError is the fault of a trace of which the good part was read.
type partError struct {
	error
	records int64
}

func (e *partError) Unwrap() error { return e.error }

// sayEmpty says of patterns that lead to no file, once.
func (w *worker) sayEmpty() {
	for _, p := range w.cfg.Include {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			w.core.Set.Logger.Warn("include has a folder, which is no pattern of files: write "+filepath.Join(p, "**", "*.nettrace"), zap.String("pattern", p))
		} else if len(find([]string{p}, w.cfg.Exclude)) == 0 {
			w.core.Set.Logger.Warn("no file matches a pattern of include yet", zap.String("pattern", p))
		}
	}
}

// A limiter holds all files together to a number of events in a second.
type limiter struct {
	perSecond int
	mu        sync.Mutex
	next      time.Time
}

// wait waits as long as n events take.
func (l *limiter) wait(stop context.Context, n int64) {
	if l.perSecond == 0 || n <= 0 {
		return
	}
	l.mu.Lock()
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(time.Duration(n) * time.Second / time.Duration(l.perSecond))
	d := l.next.Sub(now)
	l.mu.Unlock()
	flow.Sleep(stop.Done(), d)
}
