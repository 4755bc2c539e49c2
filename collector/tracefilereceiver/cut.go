package tracefilereceiver

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// orderOf returns the order in which the records of the i-th trace of a file are counted:
// that of time only if the trace has its end.
func (w *worker) orderOf(stop context.Context, f found, i int, follow bool) (string, error) {
	if follow {
		return orderFile, nil
	}
	if isNettrace(f.path) {
		if whole, err := hasEnd(f.path); err != nil {
			return "", err
		} else if !whole {
			return orderFile, nil
		}
		return orderTime, nil
	}
	watch := w.watch(f)
	files, err := trace.OpenFiles(f.path, trace.WithFileOrder(), trace.WithoutSchemas(), trace.WithoutAttribution(), trace.WithContext(stop), trace.WithReaderAt(watch.file))
	if err != nil {
		return "", watch.or(err)
	}
	defer func() {
		for _, t := range files {
			t.Close()
		}
	}()
	if i >= len(files) {
		return "", errChanged
	}
	cut, whole := orderFile, false
	if head := files[i].Head(); head.Recorder == trace.Windows {
		cut = orderProcessor
		if !head.Stopped {
			return cut, nil
		}
		if fact(files[i], "packing") == nil && f.size >= head.Written {
			if whole, err = hasEnd(f.path); err != nil { // room for buffers is not yet buffers
				return "", err
			}
		}
	}
	if whole || endsCleanly(files[i]) {
		cut = orderTime
	}
	return cut, watch.err()
}

// endsCleanly reads a trace to its end, without decoding its events.
func endsCleanly(f *trace.File) bool {
	var rec etw.Record
	for {
		if err := f.Next(&rec); err == io.EOF {
			return fact(f, "endedCleanly") != false
		} else if err != nil && !errors.Is(err, etw.ErrIncomplete) {
			return false
		}
	}
}

// fact returns a trace's own fact, or nil.
func fact(f *trace.File, key string) any {
	for _, x := range f.Facts() {
		if x.Key == key {
			return x.Value
		}
	}
	return nil
}

// hasEnd reports whether the blocks of a file say that they are all.
func hasEnd(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return blocksEnd(f)
}

// blocksEnd is hasEnd of an open file.
func blocksEnd(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if err := blocks.List(f, info.Size(), func(blocks.Block) error { return nil }); err != nil {
		if err = again(err); errors.As(err, new(*againError)) {
			return false, err
		}
		return false, nil
	}
	return true, nil
}
