package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/trace"
)

// A traceSink writes the records that a trace delivers to a file of some format.
type traceSink interface {
	write(*etw.Record) error
	// hold returns what writes a record later.
	hold(*etw.Record) func() error
	close() error
	// refused says what the format has no room for, a line each.
	refused() []string
}

// newSink begins a file of the format of a trace, or of that of the path.
func newSink(w io.Writer, path string, t *trace.Trace, x *redactor, compress bool) (traceSink, error) {
	var etls []*etl.Reader
	var nets []*nettrace.Reader
	for _, f := range t.Files() {
		switch r := f.Reader().(type) {
		case *etl.Reader:
			etls = append(etls, r)
		case *nettrace.Reader:
			nets = append(nets, r)
		}
	}
	isETL := len(etls) > 0 && len(nets) == 0 && !isNettracePath(path)
	if compress && !isETL {
		return nil, usagef("--compress is for .etl files, and %s is to be a .nettrace", path)
	}
	if x == nil {
		x = new(redactor)
	}
	switch {
	case isETL:
		return newETLSink(w, t, etls, x, compress)
	case len(etls) > 0:
		x.header(new(etl.Header)) // which a .nettrace has no room for
		return newConverter(w, t, etls)
	}
	return newNetSink(w, t, nets, x)
}

// An etlSink writes records of .etl files.
type etlSink struct {
	t *trace.Trace
	w *etl.Writer
}

func newETLSink(w io.Writer, t *trace.Trace, readers []*etl.Reader, x *redactor, compress bool) (*etlSink, error) {
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
	if compress {
		h.Compression = etl.CompressionXpress
	}
	if h.BufferSize < 1<<10 || h.BufferSize > 16<<20 || h.BufferSize%8 != 0 { // of a damaged file
		h.BufferSize = etl.DefaultBufferSize
	}
	h.EventsLost, h.BuffersLost = 0, 0
	x.header(&h)
	out, err := etl.NewWriter(w, h)
	if err != nil {
		return nil, err
	}
	out.Lost(lost.sum(), buffers.sum())
	return &etlSink{t, out}, nil
}

func (s *etlSink) write(rec *etw.Record) error {
	return s.w.Copy(s.t.File().Reader().(*etl.Reader), rec)
}

func (s *etlSink) hold(rec *etw.Record) func() error {
	raw, held := bytes.Clone(s.t.File().Reader().(*etl.Reader).Raw()), rec.Clone()
	return func() error { return s.w.CopyRaw(raw, held) }
}

func (s *etlSink) close() error      { return s.w.Close() }
func (s *etlSink) refused() []string { return nil }

// A netSink writes records of .nettrace and .netperf files.
type netSink struct {
	t       *trace.Trace
	w       *nettrace.Writer
	readers []*nettrace.Reader
	x       *redactor
	unknown int64 // events of which the stream does not say what they are
	narrow  int64 // events of programs with other pointers
}

func newNetSink(w io.Writer, t *trace.Trace, readers []*nettrace.Reader, x *redactor) (*netSink, error) {
	h := readers[0].Header()
	version := 4
	for _, r := range readers {
		other := r.Header()
		if other.Version == 6 || other.ProcessID != h.ProcessID || other.ProcessID < 0 || other.ProcessID > math.MaxUint32 {
			version = 6
		}
	}
	for _, r := range readers {
		if other := r.Header(); other.Clock.Start < h.Clock.Start {
			h = other
		}
	}
	if h.Version = version; version == 6 {
		if slices.ContainsFunc(readers, func(r *nettrace.Reader) bool { return r.Header().ProcessID != h.ProcessID }) {
			h.ProcessID = -1
			h.Keys = slices.DeleteFunc(slices.Clone(h.Keys), func(kv nettrace.KeyValue) bool { return kv.Key == "ProcessId" })
		}
	}
	h.Keys = x.keys(h.Keys)
	out, err := nettrace.NewWriter(w, h)
	if err != nil {
		return nil, err
	}
	return &netSink{t: t, w: out, readers: readers, x: x}, nil
}

func (s *netSink) write(rec *etw.Record) error {
	return s.from(rec, s.t.File().Reader().(*nettrace.Reader).Origin())
}

func (s *netSink) hold(rec *etw.Record) func() error {
	o, held := s.t.File().Reader().(*nettrace.Reader).Origin(), rec.Clone()
	return func() error { return s.from(held, o) }
}

// from writes a record of which o is what its stream says.
func (s *netSink) from(rec *etw.Record, o nettrace.Origin) error {
	o.Thread, o.Capture = s.x.thread(o.Thread), s.x.thread(o.Capture)
	err := s.w.WriteFrom(rec, o)
	switch {
	case errors.Is(err, nettrace.ErrNoProvider):
		s.unknown++
	case errors.Is(err, nettrace.ErrPointerSize):
		s.narrow++
	default:
		return err
	}
	return nil
}

func (s *netSink) close() error {
	var lost lossTables
	for _, r := range s.readers {
		h, n := r.Header(), r.Stats()
		table := lossTable{clock: h.Clock, process: h.ProcessID, threads: make(map[int64]int64)}
		if h.Version == 6 { // threads are indexes, which only that stream knows
			table.process, table.threads[-1] = -1, n.Lost
		} else {
			for thread, n := range n.LostByThread {
				table.threads[int64(thread)] = n
			}
		}
		lost.note(table)
	}
	for _, table := range lost {
		for thread, n := range table.threads {
			s.w.Lost(table.process, thread, n)
		}
	}
	return s.w.Close()
}

func (s *netSink) refused() (lines []string) {
	if s.unknown > 0 {
		lines = append(lines, count(s.unknown, "event was", "events were")+" left out: the trace does not say what they are")
	}
	return appendNarrow(lines, s.narrow)
}

// appendNarrow says how many events are of programs with other pointers than most.
func appendNarrow(lines []string, n int64) []string {
	if n == 0 {
		return lines
	}
	return append(lines, count(n, "event was", "events were")+" left out: a .nettrace has pointers of one size, and their programs those of another")
}

// A converter writes records of .etl files, and of others, to a .nettrace.
type converter struct {
	t       *trace.Trace
	w       *nettrace.Writer
	classic int64
	narrow  int64
}

func newConverter(w io.Writer, t *trace.Trace, readers []*etl.Reader) (*converter, error) {
	clock := t.Files()[0].Clock()
	for _, f := range t.Files() {
		if c := f.Clock(); c.Start < clock.Start {
			clock = c
		}
	}
	h := readers[0].Header()
	out, err := nettrace.NewWriter(w, nettrace.Header{
		Version: 6, Clock: clock, PointerSize: h.PointerSize, ProcessID: -1, Processors: int(h.Processors),
	})
	if err != nil {
		return nil, err
	}
	return &converter{t: t, w: out}, nil
}

func (c *converter) write(rec *etw.Record) error { return c.from(rec, c.origin(rec)) }

func (c *converter) hold(rec *etw.Record) func() error {
	o, held := c.origin(rec), rec.Clone()
	return func() error { return c.from(held, o) }
}

// origin returns what the stream that a record is from says of it.
func (c *converter) origin(rec *etw.Record) nettrace.Origin {
	if r, ok := c.t.File().Reader().(*nettrace.Reader); ok {
		return r.Origin()
	}
	return nettrace.Origin{CaptureThread: uint64(rec.ThreadID)}
}

func (c *converter) from(rec *etw.Record, o nettrace.Origin) error {
	if rec.Kind != etw.KindManifest {
		c.classic++
		return nil
	}
	if rec.ProviderName == "" {
		rec.ProviderName = rec.Provider.String()
	}
	err := c.w.WriteFrom(rec, o)
	if errors.Is(err, nettrace.ErrPointerSize) {
		c.narrow++
		return nil
	}
	return err
}

func (c *converter) close() error {
	lost := make(losses)
	for _, f := range c.t.Files() {
		lost.note(lossOf{clock: f.Clock()}, f.Stats().Lost)
	}
	c.w.Lost(-1, -1, lost.sum())
	return c.w.Close()
}

func (c *converter) refused() (lines []string) {
	if c.classic > 0 {
		lines = append(lines, count(c.classic, "event was", "events were")+" left out: a .nettrace has no room for those of the kernel and for messages")
	}
	return appendNarrow(lines, c.narrow)
}
