package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A netReader is a .nettrace or .netperf stream.
type netReader struct {
	*nettrace.Reader
	sorted bool
}

// A nettraceFormat is that of EventPipe, and of netperf.
type nettraceFormat struct{}

func (nettraceFormat) recognizes(head []byte) bool {
	return nettrace.Recognizes(head) || bytes.HasPrefix(head, []byte("Nettrace")) // which the reader says more about
}

func (nettraceFormat) extensions() []string { return []string{"nettrace", "netperf"} }

func (n nettraceFormat) file(o *opening, src io.ReaderAt, size int64) ([]*File, error) {
	size, err := written(src, size)
	if err != nil {
		return nil, err
	}
	if f, ok := src.(*os.File); ok && o.mapFiles {
		if files, err := o.mapped(f, size); files != nil || err != nil {
			return files, err
		}
	}
	return n.stream(o, o.whole(src, size))
}

func (nettraceFormat) stream(o *opening, src io.Reader) ([]*File, error) {
	if len(o.packing) > 0 { // a pipe may be slow
		src, o.part = look(src)
	}
	r, err := o.netReader(src)
	if err != nil {
		return nil, err
	}
	return []*File{o.found(r)}, nil
}

func (o *opening) netReader(src io.Reader) (*netReader, error) {
	opts := []nettrace.Option{nettrace.WithName(o.name)}
	if o.inFileOrder {
		opts = append(opts, nettrace.WithFileOrder())
	}
	r, err := nettrace.NewReader(src, opts...)
	if err != nil {
		return nil, err
	}
	return &netReader{r, !o.inFileOrder}, nil
}

func (r *netReader) reader() etw.Source { return r.Reader }

func (r *netReader) format() string {
	h := r.Header()
	switch h.Version {
	case 3:
		return "netperf 3"
	case 6:
		return fmt.Sprintf("nettrace %d.%d", h.Version, h.Minor)
	}
	return fmt.Sprintf("nettrace %d", h.Version)
}

func (r *netReader) clock() etw.Clock { return r.Header().Clock }

func (r *netReader) stats() Stats {
	n := r.Stats()
	out := Stats{Records: n.Records, Lost: n.Lost, Undecodable: n.Undecodable}
	if r.sorted {
		out.OutOfOrder = n.OutOfOrder
	}
	return out
}

// damaged reports whether there are events that nothing describes: who writes a stream describes
// each kind before its first event.
func (r *netReader) damaged() bool {
	n := r.Stats()
	return n.UnknownMetadata+n.BadMetadata > 0
}

func (r *netReader) head() Head {
	h := r.Header()
	head := Head{
		Recorder: DotNet, SamplingInterval: h.SamplingInterval,
		Identity: identity("nettrace\x00", int64(h.Version), h.ProcessID, int64(h.Processors)),
	}
	if h.Version == 6 {
		head.Recorder = Linux
	}
	head.Continued = r.Stats().Continued
	return head
}

// share is not known to the reader: the file counts the bytes read of it.
func (r *netReader) share(*File) float64 { return -1 }

// headerFacts returns the facts of the trace header, and when the trace ended.
func (r *netReader) headerFacts(of *File) facts {
	h := r.Header()
	var f facts
	f.packing(of.packing)
	if h.ProcessID >= 0 {
		f.number("pid", h.ProcessID, "")
	}
	if h.Processors > 0 {
		f.number("processors", int64(h.Processors), "")
	}
	f.number("pointerSize", int64(h.PointerSize), "bytes")
	f.number("clockFrequency", h.Clock.Frequency, "Hz")
	if h.SamplingInterval > 0 {
		f.add("samplingIntervalMs", float64(h.SamplingInterval)/1e6, h.SamplingInterval.String())
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
	end := h.Clock.Start
	if last, ok := r.Newest(); ok {
		end = h.Clock.FileTime(last)
	}
	f.time("start", h.Clock.Start)
	f.time("end", end)
	f.duration(between(h.Clock.Start, end))
	return f
}

// facts returns the facts of the trace header, and of the stream.
func (r *netReader) facts(of *File) facts {
	f, n := r.headerFacts(of), r.Stats()
	f.number("bytes", n.Bytes, "")
	switch { // before version 6 the runtime does not count those of threads that have ended
	case r.Header().Version == 3: // its events have no numbers
		f.add("lost", n.Lost, "unknown, since this version does not count them")
	case n.Lost == 0 && r.Header().Version < 6:
		f.add("lost", int64(0), "0, and those of threads that ended, which the runtime does not count")
	case n.Lost == 0:
		f.number("lost", 0, "")
	default:
		f.add("lost", n.Lost, "at least "+strconv.FormatInt(n.Lost, 10))
		f.number("threadsWithLosses", int64(len(n.LostByThread)), "")
	}
	f.number("sequencePoints", n.SequencePoints, "")
	f.nonzero("unknownMetadata", n.UnknownMetadata, "events without their metadata")
	f.nonzero("unknownStacks", n.UnknownStacks, "events without their stacks")
	f.nonzero("unknownThreads", n.UnknownThreads, "events without their threads")
	f.nonzero("unknownLabels", n.UnknownLabels, "events without their labels")
	f.nonzero("badMetadata", n.BadMetadata, "metadata rows that could not be read")
	f.nonzero("badFields", n.BadFields, "metadata rows with fields that could not be read")
	f.nonzero("damagedBlocks", n.DamagedBlocks, "")
	f.nonzero("unknownBlocks", n.UnknownBlocks, "blocks of a kind that is not known")
	f.conclude(of)
	return f
}
