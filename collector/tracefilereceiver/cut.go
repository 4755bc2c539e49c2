package tracefilereceiver

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// orderOf returns the order in which the records of the i-th trace of a file are counted:
// that of time only if the trace has its end.
func orderOf(stop context.Context, f found, i int, follow bool) (string, error) {
	if follow {
		return orderFile, nil
	}
	if isNettrace(f.path) {
		file, err := os.Open(f.path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		if !hasEnd(file) {
			return orderFile, nil
		}
		return orderTime, nil
	}
	files, err := trace.OpenFiles(f.path, trace.InFileOrder(), trace.WithoutSchemas(), trace.WithoutAttribution(), trace.WithContext(stop))
	if err != nil {
		return "", err
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
	if r, ok := files[i].Reader().(*etl.Reader); ok {
		cut = orderProcessor
		h := r.Header()
		if h.End == 0 {
			return cut, nil // the session runs
		}
		whole = fact(files[i], "packing") == nil && f.size >= int64(h.BuffersWritten)*int64(h.BufferSize)
	}
	if whole || endsCleanly(files[i]) {
		return orderTime, nil
	}
	return cut, nil
}

// endsCleanly reads a trace to its end, without what its events mean.
func endsCleanly(f *trace.File) bool {
	var rec etw.Record
	for {
		if err := f.Next(&rec); err == io.EOF {
			return fact(f, "ended_cleanly") != false
		} else if err != nil && !errors.Is(err, etw.ErrIncomplete) {
			return false
		}
	}
}

// fact returns what a trace says of itself, or nil.
func fact(f *trace.File, key string) any {
	for _, x := range f.Facts() {
		if x.Key == key {
			return x.Value
		}
	}
	return nil
}

// hasEnd reports whether the blocks of a file say that they are all.
func hasEnd(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && blocks.List(f, info.Size(), func(blocks.Block) error { return nil }) == nil
}
