package trace

import (
	"bytes"
	"context"
	"os"

	"github.com/etwgen/etwgen/runtime/etw"
)

// maxMapped is the size up to which files are mapped: a mapping counts as memory of the
// process, and larger files are no faster for it.
const maxMapped = 64 << 20

// mapped opens a file of EventPipe in memory that is the file itself, so that nothing
// of it is copied. It returns nil if the system does not map it.
func (o *opening) mapped(f *os.File, size int64) ([]*File, error) {
	if size > maxMapped {
		return nil, nil
	}
	m, err := mapFile(f, int(size))
	if err != nil {
		return nil, nil
	}
	r, err := o.netReader(bytes.NewReader(m))
	if err != nil {
		o.closers = append(o.closers, m)
		return nil, err
	}
	o.closers = append(o.closers, r.Reader, m) // which reads ahead in it
	return []*File{o.found(&mappedReader{netReader: r, ctx: o.ctx, size: size})}, nil
}

// A mappedReader reads a mapped file. Its memory knows nothing of a context, nor how
// much of it was read.
type mappedReader struct {
	*netReader
	ctx  context.Context
	size int64
	next int // how many records until ctx is asked
}

// askEvery is how many records are read before the context is asked again.
const askEvery = 256

func (r *mappedReader) Next(rec *etw.Record) error {
	if r.next--; r.next < 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.next = askEvery
	}
	return r.netReader.Next(rec)
}

func (r *mappedReader) share(*File) float64 {
	return min(float64(r.Stats().Bytes)/float64(r.size), 1)
}
