package trace

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etwgen/etwgen/internal/same"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An etlReader is one .etl file, or several of one session.
type etlReader struct {
	*etl.Reader
	header etl.Header
	size   int64      // of one file, else 0
	once   *same.Once // of several files: parts of a trace have records at their ends both
}

func newETL(r *etl.Reader, size int64) *etlReader { return &etlReader{r, r.Header(), size, nil} }

func (r *etlReader) Next(rec *etw.Record) error { return r.once.Next(r.Reader, rec) }

// An etlFormat is that of ETW.
type etlFormat struct{}

func (etlFormat) recognizes(head []byte) bool { return etl.Recognizes(head) }

func (etlFormat) extensions() []string { return []string{"etl"} }

func (etlFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	r, err := etl.NewReader(src, size, append(o.etlOptions(), etl.WithName(o.name))...)
	if err != nil {
		switch {
		case o.failed != nil:
			err = o.failed
		case errors.Is(err, etl.ErrNotETL):
			err = ErrFormat // that it is no .etl file in particular does not matter
		}
		return nil, err
	}
	return []*File{o.found(newETL(r, size))}, nil
}

func (etlFormat) session(paths []string, o *options) (reader, error) {
	r, err := etl.OpenAll(paths, o.etlOptions()...)
	if err != nil {
		return nil, err
	}
	return &etlReader{Reader: r, header: r.Header(), once: same.NewOnce(!o.repeated)}, nil
}

func (o *options) etlOptions() []etl.Option {
	opts := []etl.Option{etl.WithContext(o.ctx)}
	if o.noAttribution {
		opts = append(opts, etl.WithoutAttribution())
	}
	if o.noSchemas {
		opts = append(opts, etl.WithoutSchemas())
	}
	if o.foresight != nil {
		opts = append(opts, etl.WithForesight(o.foresight.wants, o.foresight.see))
	}
	return opts
}

func (r *etlReader) reader() etw.Source { return r.Reader }

func (r *etlReader) format() string {
	return fmt.Sprintf("etl %d.%d", r.header.FormatVersion[0], r.header.FormatVersion[1])
}

func (r *etlReader) clock() etw.Clock { return r.header.Clock }

func (r *etlReader) stats() Stats {
	n := r.Stats()
	return Stats{
		Records:     n.Records,
		Lost:        n.Lost,
		LostBuffers: n.LostBuffers,
		Undecodable: n.Undecodable + n.Unknown,
		OutOfOrder:  n.OutOfOrder,
	}
}

func (r *etlReader) head() Head {
	h := &r.header
	return Head{
		Recorder: Windows, Processors: int(h.Processors), NewFile: h.Mode&etl.ModeNewFile != 0, Stopped: h.End != 0, End: h.End, Written: int64(h.BuffersWritten) * int64(h.BufferSize), Zone: h.Zone,
		Overwritten: h.Mode&(etl.ModeCircular|etl.ModeRelog) == etl.ModeCircular && r.size > 0 && int64(h.BuffersWritten)*int64(h.BufferSize) > r.size, Identity: identity("etl\x00"+h.SessionName, int64(h.Boot), int64(h.Processors)),
	}
}

// share goes by time, since a file is not read from front to back.
func (r *etlReader) share(f *File) float64 {
	h := &r.header
	cut := r.size > 0 && int64(h.BuffersWritten)*int64(h.BufferSize) > r.size // or circular: not all of the time is in it
	if h.End <= h.Clock.Start || f.lastOf == nil || cut {
		return -1
	}
	done := float64(f.lastOf.FileTime(f.last)-h.Clock.Start) / float64(h.End-h.Clock.Start)
	return min(max(done, 0), 1)
}

// headerFacts returns the facts of the header, and when the trace ended.
func (r *etlReader) headerFacts(of *File) facts {
	h := &r.header
	var f facts
	f.text("session", h.SessionName)
	recordedAs, _ := CutMark(h.LogFileName)
	f.text("recordedAs", recordedAs)
	f.add("mode", uint32(h.Mode), h.Mode.String())
	f.text("compression", h.Compression.String())
	f.packing(of.packing)
	f.text("os", fmt.Sprintf("Windows %d.%d build %d", h.WindowsMajor, h.WindowsMinor, h.WindowsBuild))
	f.number("processors", int64(h.Processors), "")
	if h.ProcessorMHz != 0 {
		f.number("processorMhz", int64(h.ProcessorMHz), "")
	}
	f.number("pointerSize", int64(h.PointerSize), "bytes")
	f.text("clock", h.ClockType.String())
	f.number("clockFrequency", h.Clock.Frequency, "Hz")
	if h.Boot != 0 {
		f.time("boot", h.Boot)
	}
	f.time("start", h.Clock.Start)
	if h.Zone != nil {
		f.text("timeZone", zoneText(h.Start().In(h.Zone)))
	}
	end := h.End
	if last, ok := r.lastEvent(of); ok { // what merging and rundowns add comes after the session
		end = last
	}
	if end != 0 {
		f.time("end", end)
		f.duration(between(h.Clock.Start, end))
	}
	if h.End != 0 && between(end, h.End).Abs() >= time.Millisecond {
		f.time("headerEnd", h.End)
		length := between(h.Clock.Start, h.End)
		f.add("headerDurationMs", float64(length)/1e6, length.String())
	}
	f.number("bufferSize", int64(h.BufferSize), "bytes")
	return f
}

// lastEvent returns when the last event was that was read, unless it cannot be of the
// session, whose header says when that ended.
func (r *etlReader) lastEvent(of *File) (etw.FileTime, bool) {
	if of.lastOf == nil {
		return 0, false
	}
	h, last := &r.header, of.lastOf.FileTime(of.last)
	if h.End == 0 {
		return last, true
	}
	length := between(h.Clock.Start, h.End)
	return last, last >= h.Clock.Start && between(h.End, last) <= max(length, 0)+slack
}

// facts returns the facts of the header, and of the buffers.
func (r *etlReader) facts(of *File) facts {
	h, n := &r.header, r.Stats()
	f := r.headerFacts(of)
	f.number("buffers", n.Buffers, "")
	f.number("buffersWritten", int64(h.BuffersWritten), "")
	f.number("lost", n.Lost, "")
	f.number("lostBuffers", n.LostBuffers, "")
	f.nonzero("unknownRecords", n.Unknown, "of kinds that are not known")
	f.nonzero("damagedRecords", n.Undecodable, "")
	f.nonzero("missingBuffers", n.MissingBuffers, "")
	f.nonzero("truncatedBuffers", n.TruncatedBuffers, "")
	f.nonzero("unreadBytes", n.UnreadBytes, "bytes could not be read")
	f.nonzero("unwrittenBytes", n.UnwrittenBytes, "bytes were not written yet")
	switch {
	case of.failed != nil:
		f.ended(false, "no: "+of.failed.Error())
	case n.Damage.Count > 0:
		f.ended(false, "no: "+describe(n.Damage.Err()))
	case h.End == 0:
		f.ended(false, "no: the session was not stopped")
	case n.MissingBuffers > 0:
		f.ended(false, "no: buffers that the session wrote are missing")
	case h.Mode&etl.ModeRelog != 0:
		f.ended(true, "yes, by the tool that made it of other files, of all their events or a part")
	default:
		f.ended(true, "yes")
	}
	return f
}

// slack is how long before a session and after it records may be all the same, besides as long as it
// took: rundowns come then, and merging adds records.
const slack = time.Minute
