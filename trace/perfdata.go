package trace

import (
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/perfdata"
)

// A perfReader is a perf.data of Linux.
type perfReader struct{ *perfdata.Reader }

// A perfFormat is that of perf record.
type perfFormat struct{}

func (perfFormat) recognizes(head []byte) bool { return perfdata.Recognizes(head) }

func (perfFormat) extensions() []string { return []string{"data"} }

func (perfFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	opts := slices.Clone(o.perf)
	if !o.modified.IsZero() {
		opts = append(opts, perfdata.WithEnd(o.modified))
	}
	r, err := perfdata.NewReader(src, size, opts...)
	if err != nil {
		return nil, err
	}
	return []*File{o.found(&perfReader{r})}, nil
}

func (r *perfReader) reader() etw.Source { return r.Reader }

func (r *perfReader) format() string {
	if r.Header().Pipe {
		return "perf.data (pipe)"
	}
	return "perf.data"
}

func (r *perfReader) clock() etw.Clock { return r.Header().Clock }

func (r *perfReader) stats() Stats {
	s := r.Stats()
	return Stats{Records: s.Records, Lost: s.Lost, Undecodable: s.Undecodable, OutOfOrder: s.OutOfOrder}
}

func (r *perfReader) head() Head {
	h := r.Header()
	return Head{Recorder: Linux, SamplingInterval: h.SamplingInterval, Identity: identity("perf.data\x00"+h.Host, h.Clock.Origin, int64(h.Processors))}
}

func (r *perfReader) share(*File) float64 { return r.Progress() }

func (r *perfReader) facts(of *File) facts {
	var f facts
	f.packing(of.packing)
	h, s := r.Header(), r.Stats()
	f.text("machine", h.Host)
	f.text("kernel", strings.TrimSpace(h.Release+" "+h.Arch))
	f.text("processor", h.CPU)
	if h.Processors > 0 {
		f.number("processors", int64(h.Processors), "")
	}
	f.text("perf", h.Perf)
	f.text("command", strings.Join(h.CommandLine, " "))
	f.text("recorded", strings.Join(h.Events, ", "))
	if h.SamplingInterval > 0 {
		f.add("samplingIntervalMs", float64(h.SamplingInterval)/1e6, h.SamplingInterval.String())
	}
	if h.BigEndian {
		f.text("byteOrder", "big-endian")
	}
	if h.Packed {
		f.text("compression", "zstd")
	}
	switch start := h.Clock.Start; {
	case h.Dated:
		f.time("start", start)
	case start != 0:
		f.add("start", start.String(), start.String()+", by the time of the file: perf wrote no wall time, as it does with -k CLOCK_MONOTONIC")
	}
	f.number("samples", s.Samples, "")
	f.number("lost", s.Lost, "")
	f.nonzero("notUnwound", s.NotUnwound, "samples with a copy of the stack (--call-graph dwarf) that was not unwound: only the innermost frame of the program is shown")
	f.conclude(of)
	return f
}
