package tracefilereceiver

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// An againError is trouble that may pass without the file changing: the medium failed, or
// reading is not allowed yet, or too many files are open.
type againError struct{ error }

func (e *againError) Unwrap() error { return e.error }

// again tells faults that may pass from those with the format of a file, which lasts until
// the file changes.
func again(err error) error {
	if errors.As(err, new(*againError)) {
		return err
	}
	var path *fs.PathError
	var call syscall.Errno
	if errors.As(err, &path) || errors.As(err, &call) || errors.Is(err, errChanged) {
		return &againError{err}
	}
	return err
}

// A watch knows whether the file that is read failed, or was changed. To the readers of
// traces that is one more damage, after which they give what they have: it differs from
// their next events of the whole.
type watch struct {
	found  found
	medium func(io.ReaderAt) io.ReaderAt // nil for the file itself
	failed atomic.Pointer[error]
}

// err returns the fault of the file.
func (w *watch) err() error {
	if err := w.failed.Load(); err != nil {
		return &againError{*err}
	}
	return nil
}

// or returns the fault of the file, or else that of its contents.
func (w *watch) or(err error) error {
	if failed := w.err(); failed != nil {
		return failed
	}
	return err
}

func (w *watch) fail(err error) { w.failed.CompareAndSwap(nil, &err) }

// file returns the reader of a file.
func (w *watch) file(f *os.File) io.ReaderAt {
	if info, err := f.Stat(); err != nil {
		w.fail(err)
	} else if info.Size() != w.found.size || !info.ModTime().Equal(w.found.changed) {
		w.fail(errChanged)
	}
	var src io.ReaderAt = f
	if w.medium != nil {
		src = w.medium(f)
	}
	return &watched{src, w}
}

// A watched is a file that is watched.
type watched struct {
	src   io.ReaderAt
	watch *watch
}

func (f *watched) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.src.ReadAt(p, at)
	if err == io.EOF && at+int64(n) < f.watch.found.size {
		err = errChanged // it has become shorter
	}
	if err != nil && err != io.EOF {
		f.watch.fail(err)
	}
	return n, err
}

// A pause is how long a file is left alone that could not be read.
type pause struct {
	of    found
	until time.Time
	wait  time.Duration
}

const maxPause = time.Minute

// holds reports whether a file is to be left alone.
func (p pause) holds(f found) bool { return p.of.same(f) && time.Now().Before(p.until) }

// longer returns the pause after one more failure.
func (p pause) longer(f found, shortest time.Duration) pause {
	wait := shortest
	if p.of.same(f) {
		wait = min(2*p.wait, max(maxPause, shortest))
	}
	return pause{f, time.Now().Add(wait), wait}
}
