package etl_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestNamed: the name of the file is on records, in the header and in errors.
func TestNamed(t *testing.T) {
	data, buffers := damagedTrace(t, etl.CompressionXpress)
	path := filepath.Join(t.TempDir(), "a.etl")
	testio.Write(t, path, data[:buffers[4].at+400])
	byPath := testio.Open(t, etl.Open, path)
	defer byPath.Close()
	for name, r := range map[string]*etl.Reader{path: byPath, "b.etl": newReader(t, data[:buffers[4].at+400], etl.WithName("b.etl"))} {
		if got := r.Header().File; got != name {
			t.Errorf("the header is of %q, want %q", got, name)
		}
		records, err := readAll(r)
		for _, rec := range records {
			if rec.File != name {
				t.Fatalf("a record is of %q, want %q", rec.File, name)
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), "etl: "+name+": offset ") {
			t.Errorf("error %v, want one that begins with the name", err)
		}
	}
	_, err := etl.NewReader(strings.NewReader("text"), 4, etl.WithName("c.etl"))
	if err == nil || !strings.HasPrefix(err.Error(), "etl: c.etl: offset 0: ") {
		t.Errorf("error %v, want one that begins with the name", err)
	}
}

// A hookedReader calls a function before each read.
type hookedReader struct {
	io.ReaderAt
	hook func()
}

func (r hookedReader) ReadAt(p []byte, off int64) (int, error) {
	r.hook()
	return r.ReaderAt.ReadAt(p, off)
}

// TestWithContext cancels before each read of the file: opening or Next says so.
func TestWithContext(t *testing.T) {
	data, _ := damagedTrace(t, etl.CompressionNone)
	cause := errors.New("enough")
	inOpen, inNext := 0, 0
	for n := int64(0); ; n++ {
		ctx, cancel := context.WithCancelCause(context.Background())
		var reads atomic.Int64
		src := hookedReader{bytes.NewReader(data), func() {
			if reads.Add(1) > n {
				cancel(cause)
			}
		}}
		r, err := etl.NewReader(src, int64(len(data)), etl.WithContext(ctx), etl.WithName("a.etl"))
		if err != nil {
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), "a.etl") {
				t.Fatalf("open: %v", err)
			}
			inOpen++
			continue
		}
		_, err = readAll(r)
		if errors.Is(err, cause) {
			inNext++
			if err := r.Next(new(etw.Record)); !errors.Is(err, cause) {
				t.Errorf("the next Next: %v", err)
			}
		} else if err != nil {
			t.Errorf("read: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err == nil && ctx.Err() == nil {
			break // all was read in n reads
		}
	}
	if inOpen == 0 || inNext == 0 {
		t.Errorf("opening ended %d times and reading %d times", inOpen, inNext)
	}
}
