package rewrite

import (
	"bytes"
	"io"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// An etlSink writes records of .etl files.
type etlSink struct {
	t *trace.Trace
	w *etl.Writer
}

func newETLSink(w io.Writer, t *trace.Trace, readers []*etl.Reader, o Options) (*etlSink, error) {
	h := readers[0].Header()
	lost, buffers := make(losses), make(losses)
	for _, r := range readers {
		if r.Header().Clock.Start < h.Clock.Start {
			h = r.Header()
		}
	}
	for _, r := range readers {
		of := lossOf{clock: r.Header().Clock, session: r.Header().SessionName}
		lost.note(of, r.Stats().Lost)
		buffers.note(of, r.Stats().LostBuffers)
		for _, other := range r.Headers() {
			h.BufferSize = max(h.BufferSize, other.BufferSize)
			h.Processors = max(h.Processors, other.Processors)
			h.End = max(h.End, other.End)
		}
	}
	h.Compression = etl.CompressionNone
	if o.Compress {
		h.Compression = etl.CompressionXpress
	}
	if h.BufferSize < 1<<10 || h.BufferSize > 16<<20 || h.BufferSize%8 != 0 { // of a damaged file
		h.BufferSize = etl.DefaultBufferSize
	}
	h.EventsLost, h.BuffersLost = 0, 0
	o.Redactor.header(&h)
	out, err := etl.NewWriter(w, h)
	if err != nil {
		return nil, err
	}
	out.Lost(lost.sum(), buffers.sum())
	return &etlSink{t, out}, nil
}

func (s *etlSink) reader() *etl.Reader { return s.t.File().Reader().(*etl.Reader) }

func (s *etlSink) write(rec *etw.Record) error { return s.w.Copy(s.reader(), rec) }

func (s *etlSink) hold(rec *etw.Record) func() error {
	raw, held := bytes.Clone(s.reader().Origin()), rec.Clone()
	return func() error { return s.w.WriteFrom(held, raw) }
}

func (s *etlSink) close() error { return s.w.Close() }
