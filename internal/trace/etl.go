package trace

import (
	"fmt"
	"io"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An etlSource is one .etl file, or several of one session.
type etlSource struct {
	*opening
	r      *etl.Reader
	header etl.Header
	clock  etw.Clock
	last   int64 // time stamp of the last record, by lastOf
	lastOf *etw.Clock
	failed error // why there is no more
}

// etl opens an .etl file.
func (o *opening) etl(src io.ReaderAt, size int64) ([]Source, error) {
	r, err := etl.NewReader(src, size, o.etlOptions()...)
	if err != nil {
		if o.failed != nil {
			err = o.failed
		}
		return nil, err
	}
	return []Source{newETL(o, r)}, nil
}

func (o Options) etlOptions() []etl.Option {
	if o.Attribute {
		return []etl.Option{etl.WithAttribution()}
	}
	return nil
}

func newETL(o *opening, r *etl.Reader) *etlSource {
	h := r.Header()
	return &etlSource{opening: o, r: r, header: h, clock: h.Clock(), failed: o.failed}
}

func (s *etlSource) Next(rec *etw.Record) error {
	err := s.r.Next(rec)
	switch {
	case err == nil:
		s.last, s.lastOf = rec.Timestamp, rec.Clock
		return nil
	case err == io.EOF:
		err, s.failed = s.failed, nil
		if err == nil {
			return io.EOF
		}
	}
	return inFile(s.name, err)
}

func (s *etlSource) Name() string { return s.name }

func (s *etlSource) Format() string {
	return fmt.Sprintf("etl %d.%d", s.header.FormatVersion[0], s.header.FormatVersion[1])
}

func (s *etlSource) Clock() etw.Clock { return s.clock }

func (s *etlSource) Stats() Stats {
	n := s.r.Stats()
	return Stats{
		Events:      n.Records,
		Lost:        n.EventsLost,
		LostBuffers: n.BuffersLost,
		Undecodable: n.Undecodable + n.Unknown,
		OutOfOrder:  n.OutOfOrder,
	}
}

// Progress goes by time, since a file is not read from front to back.
func (s *etlSource) Progress() float64 {
	h := &s.header
	if h.End <= h.Start || s.lastOf == nil {
		return -1
	}
	done := float64(s.lastOf.FileTime(s.last)-h.Start) / float64(h.End-h.Start)
	return min(max(done, 0), 1)
}

func (s *etlSource) Close() error {
	err := s.r.Close()
	s.opening.close()
	return err
}

// Facts returns what the header says, and what the buffers show.
func (s *etlSource) Facts() []Fact {
	h, n := &s.header, s.r.Stats()
	var f facts
	f.text("session", h.SessionName)
	f.text("recorded_as", h.LogFileName)
	f.add("mode", uint32(h.Mode), h.Mode.String())
	f.text("compression", h.Compression.String())
	f.packing(s.packing)
	f.text("os", fmt.Sprintf("Windows %d.%d build %d", h.WindowsMajor, h.WindowsMinor, h.WindowsBuild))
	f.number("processors", int64(h.Processors), "")
	f.number("processor_mhz", int64(h.ProcessorMHz), "")
	f.number("pointer_size", int64(h.PointerSize), "bytes")
	f.text("clock", h.ClockType.String())
	f.number("clock_frequency", h.Frequency, "Hz")
	f.time("boot", h.Boot)
	f.time("start", h.Start)
	end := h.End
	if end == 0 && s.lastOf != nil { // the session was not stopped
		end = s.lastOf.FileTime(s.last)
	}
	if end != 0 {
		f.time("end", end)
		f.duration(between(h.Start, end))
	}
	f.number("buffer_size", int64(h.BufferSize), "bytes")
	f.number("buffers", n.Buffers, "")
	f.number("buffers_written", int64(h.BuffersWritten), "")
	f.number("events_lost", n.EventsLost, "")
	f.number("buffers_lost", n.BuffersLost, "")
	f.nonzero("unknown_records", n.Unknown, "of kinds that are not known")
	f.nonzero("damaged_records", n.Undecodable, "")
	f.nonzero("missing_buffers", n.MissingBuffers, "")
	f.nonzero("truncated_buffers", n.TruncatedBuffers, "")
	f.nonzero("unread_bytes", n.UnreadBytes, "bytes could not be read")
	f.nonzero("unwritten_bytes", n.UnwrittenBytes, "bytes were not written yet")
	switch {
	case s.opening.failed != nil:
		f.ended(false, "no: "+s.opening.failed.Error())
	case n.DamageCount > 0:
		f.ended(false, "no: "+describe(s.name, n.Err()))
	case h.End == 0:
		f.ended(false, "no: the session was not stopped")
	case n.MissingBuffers > 0:
		f.ended(false, "no: buffers that the session wrote are missing")
	default:
		f.ended(true, "yes")
	}
	return f
}

// between returns the time from a to b.
func between(a, b etw.FileTime) time.Duration { return time.Duration(b-a) * 100 }
