package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A netSource is a .nettrace or .netperf stream.
type netSource struct {
	*opening
	r     *nettrace.Reader
	last  int64 // the latest time stamp so far
	ended error // what Next returned last
}

// nettrace opens a stream of EventPipe.
func (o *opening) nettrace(src io.Reader) ([]Source, error) {
	var opts []nettrace.Option
	if o.Sorted {
		opts = append(opts, nettrace.Sorted())
	}
	r, err := nettrace.NewReader(src, opts...)
	if err != nil {
		return nil, err
	}
	return []Source{&netSource{opening: o, r: r, last: r.Header().Clock.Origin}}, nil
}

func (s *netSource) Next(rec *etw.Record) error {
	if s.ended != nil {
		return io.EOF
	}
	for {
		err := s.r.Next(rec)
		switch {
		case err == nil:
			s.last = max(s.last, rec.Timestamp)
			return nil
		case errors.Is(err, nettrace.ErrSortLimit):
			continue // Stats tell of what came too late
		}
		s.ended = err
		if err == io.EOF {
			return io.EOF
		}
		return inFile(s.name, err)
	}
}

func (s *netSource) Name() string { return s.name }

func (s *netSource) Format() string {
	h := s.r.Header()
	switch h.Version {
	case 3:
		return "netperf 3"
	case 6:
		return fmt.Sprintf("nettrace %d.%d", h.Version, h.Minor)
	}
	return fmt.Sprintf("nettrace %d", h.Version)
}

func (s *netSource) Clock() etw.Clock { return s.r.Header().Clock }

func (s *netSource) Stats() Stats {
	n := s.r.Stats()
	out := Stats{Events: n.Events, Lost: int64(n.Lost)}
	if s.Sorted {
		out.OutOfOrder = n.OutOfOrder
	}
	return out
}

func (s *netSource) Progress() float64 {
	if s.size <= 0 || s.read == nil {
		return -1
	}
	return min(float64(s.read.n)/float64(s.size), 1)
}

func (s *netSource) Close() error {
	err := s.r.Close()
	s.opening.close()
	return err
}

// Facts returns what the trace header says, and what the stream shows.
func (s *netSource) Facts() []Fact {
	h, n := s.r.Header(), s.r.Stats()
	var f facts
	f.packing(s.packing)
	if h.ProcessID >= 0 {
		f.number("process_id", h.ProcessID, "")
	}
	if h.Processors > 0 {
		f.number("processors", int64(h.Processors), "")
	}
	f.number("pointer_size", int64(h.PointerSize), "bytes")
	f.number("clock_frequency", h.Clock.Frequency, "Hz")
	if h.SamplingInterval > 0 {
		f.add("sampling_interval_ms", float64(h.SamplingInterval)/1e6, h.SamplingInterval.String())
	}
	if len(h.Keys) > 0 {
		keys := make(map[string]string)
		var text []string
		for _, k := range h.Keys {
			keys[k.Key] = k.Value
			text = append(text, k.Key+"="+k.Value)
		}
		f.add("keys", keys, strings.Join(text, " "))
	}
	end := h.Clock.FileTime(s.last)
	f.time("start", h.Clock.Start)
	f.time("end", end)
	f.duration(between(h.Clock.Start, end))
	f.number("bytes", n.Bytes, "")
	f.number("events_lost", int64(n.Lost), "")
	if n.Lost > 0 {
		f.number("threads_with_losses", int64(len(n.LostByThread)), "")
	}
	f.number("sequence_points", n.SequencePoints, "")
	f.nonzero("unknown_metadata", n.UnknownMetadata, "events without their metadata")
	f.nonzero("unknown_stacks", n.UnknownStacks, "events without their stacks")
	f.nonzero("unknown_threads", n.UnknownThreads, "events without their threads")
	f.nonzero("unknown_labels", n.UnknownLabels, "events without their labels")
	f.nonzero("bad_metadata", n.BadMetadata, "metadata rows that could not be read")
	f.nonzero("bad_fields", n.BadFields, "metadata rows with fields that could not be read")
	f.nonzero("damaged_blocks", n.DamagedBlocks, "")
	switch {
	case s.ended == io.EOF:
		f.ended(true, "yes")
	case s.ended != nil:
		f.ended(false, "no: "+describe(s.name, s.ended))
	}
	return f
}
