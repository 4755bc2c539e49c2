package rewrite

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// An etlSink writes records of .etl files.
type etlSink struct {
	t       *trace.Trace
	w       *etl.Writer
	readers []*etl.Reader
	part    *trace.Part
	name    string // of the file, without the mark

	events, buffers int64 // that the Writer was told are lost
}

func newETLSink(w io.Writer, t *trace.Trace, readers []*etl.Reader, o Options) (*etlSink, error) {
	h := readers[0].Header()
	var headers []etl.Header
	for _, r := range readers {
		if r.Header().Clock.Start < h.Clock.Start {
			h = r.Header()
		}
		headers = append(headers, r.Headers()...)
	}
	order.Stable(headers, func(a, b etl.Header) int { return cmp.Compare(a.Clock.Start, b.Clock.Start) })
	var sessions, files names
	for _, other := range headers {
		sessions.add(other.SessionName)
		name, _ := trace.CutMark(other.LogFileName)
		files.add(name)
		h.BufferSize = max(h.BufferSize, other.BufferSize)
		h.Processors = max(h.Processors, other.Processors)
		h.End = max(h.End, other.End)
	}
	h.Mode |= etl.ModeRelog
	h.Compression = etl.CompressionNone
	if o.Compress {
		h.Compression = etl.CompressionXpress
	}
	if h.BufferSize < 1<<10 || h.BufferSize > 16<<20 || h.BufferSize%8 != 0 { // of a damaged file
		h.BufferSize = etl.DefaultBufferSize
	}
	h.EventsLost, h.BuffersLost = 0, 0
	h.SessionName, h.LogFileName = sessions.String(), files.String()
	o.Redactor.header(&h)
	unmarked := h.LogFileName
	if name := o.Part.MarkFile(h.LogFileName); name != h.LogFileName {
		h.LogFileName, h.BufferSize = name, max(h.BufferSize, markedBuffer)
	}
	out, err := etl.NewWriter(w, h)
	if err != nil {
		return nil, err
	}
	s := &etlSink{t: t, w: out, readers: readers, part: o.Part, name: unmarked}
	s.tellLosses()
	return s, nil
}

// markedBuffer is the size of a buffer that has room for a header with a mark.
const markedBuffer = 16 << 10

// tellLosses tells the Writer of the losses that are known so far: a file that is written
// from its beginning to its end has room for those of the end alone in its first buffer.
func (s *etlSink) tellLosses() {
	events, buffers := lostOfSessions(s.readers)
	s.w.Lost(events-s.events, buffers-s.buffers)
	s.events, s.buffers = events, buffers
}

// Names are those of several sessions, each once.
type names []string

func (n *names) add(name string) {
	if name != "" && !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// mostText is how many bytes of names go into a header, which is one record. The first name
// is always there.
const mostText = 2000

func (n names) String() string {
	if len(n) == 0 {
		return ""
	}
	text := n[0]
	for i, name := range n[1:] {
		if len(text)+len(name) > mostText {
			return text + fmt.Sprintf("; %d more", len(n)-1-i)
		}
		text += "; " + name
	}
	return text
}

func (s *etlSink) reader() *etl.Reader { return s.t.File().Reader().(*etl.Reader) }

func (s *etlSink) write(rec *etw.Record) error { return s.w.Copy(s.reader(), rec) }

func (s *etlSink) hold(rec *etw.Record) func() error {
	raw, held := bytes.Clone(s.reader().Origin()), rec.Clone()
	return func() error { return s.w.WriteFrom(held, raw) }
}

func (s *etlSink) close() error {
	s.tellLosses()
	s.w.Name(s.part.MarkFile(s.name))
	return s.w.Close()
}
