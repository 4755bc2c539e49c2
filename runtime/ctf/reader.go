package ctf

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Header is the facts of a trace about its recording.
type Header struct {
	Clock  etw.Clock // of the records, in nanoseconds
	Host   string
	Domain string // kernel or ust, of LTTng
	Tracer string // such as lttng-ust 2.11
	System string // the kernel that wrote it, if it did
	Begun  string // when, as the recorder wrote it
	Events int    // the kinds of events that the trace has or could have
}

// Stats are counts of the reading.
type Stats struct {
	Records     int64 // delivered
	Lost        int64 // events that the recorder had no room for, by its own count
	LostPackets int64 // packets whose numbers are missing
	Packets     int64
	Undecodable int64 // events that are damaged: the rest of the packet of each is left out
}

// A Reader reads the streams of a trace. It is an [etw.Source] that delivers records in the
// order of time.
type Reader struct {
	model   *model
	header  Header
	streams []*reading // with an event, the one that is next at first
	size    int64
	left    *reading // the one whose event was delivered
	pointer etw.PtrSize
	log     etw.DamageLog
	stats   Stats
}

// maxStreams bounds the streams of a trace.
const maxStreams = 1 << 10

// NewReader returns a Reader of the files of a trace. It reads ahead to the first event of each
// stream.
func NewReader(files []File) (*Reader, error) {
	if len(files) > maxStreams {
		return nil, fmt.Errorf("ctf: the trace has %d files, more than %d", len(files), maxStreams)
	}
	r := &Reader{pointer: etw.Ptr64}
	if err := r.readMetadata(files); err != nil {
		return nil, err
	}
	var start int64
	for _, f := range files {
		if f.Name == Metadata {
			continue
		}
		d := decoder{cursor: cursor{src: f.Data, size: f.Size}, values: make([]uint64, maxSlots)}
		one := &reading{decoder: d, name: f.Name, model: r.model, log: &r.log, stats: &r.stats}
		r.size += f.Size
		r.enter(one)
		if start == 0 || one.first != 0 && one.first < start {
			start = one.first
		}
	}
	if len(r.streams) > 0 { // else the time of a packet is all that there is
		start = r.streams[0].at
	}
	if start != 0 {
		const tick = 100 // of a FILETIME, in nanoseconds
		r.header.Clock.Origin = start - start%tick
		r.header.Clock.Start = etw.FileTimeOf(time.Unix(0, r.header.Clock.Origin))
	}
	return r, nil
}

// readMetadata makes the model of the trace.
func (r *Reader) readMetadata(files []File) error {
	at := slices.IndexFunc(files, func(f File) bool { return f.Name == Metadata })
	if at < 0 || files[at].Size > maxMetadata {
		return fmt.Errorf("%w: without a file %s of at most %d bytes", ErrFormat, Metadata, maxMetadata)
	}
	b := make([]byte, files[at].Size)
	if _, err := files[at].Data.ReadAt(b, 0); err != nil && err != io.EOF {
		return err
	}
	text, err := unpackMetadata(b)
	if text == nil {
		return err
	}
	blocks, fault := parse(text)
	err = cmp.Or(err, fault)
	if len(blocks) == 0 && err == nil {
		err = errNone
	}
	if len(blocks) == 0 {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err != nil {
		r.log.Add(&etw.Damage{Format: "ctf", File: Metadata, Part: "what follows", Err: err})
	}
	if r.model, err = newModel(blocks); err == nil {
		r.setHeader()
	}
	return err
}

func (r *Reader) setHeader() {
	env, h := r.model.env, &r.header
	h.Clock.Frequency = 1e9
	h.Host, h.Domain, h.Begun = env["hostname"], env["domain"], env["trace_creation_datetime"]
	h.Tracer = strings.Trim(env["tracer_name"]+" "+env["tracer_major"]+"."+env["tracer_minor"], " .")
	h.System = strings.Trim(env["sysname"]+" "+env["kernel_release"], " ")
	for _, s := range r.model.streams {
		h.Events += len(s.events)
	}
	if env["architecture_bit_width"] == "32" {
		r.pointer = etw.Ptr32
	}
}

// enter reads the next event of a stream, and puts the stream where it belongs by the time.
func (r *Reader) enter(s *reading) {
	if !s.advance() {
		return
	}
	r.streams = append(r.streams, s)
	for i := len(r.streams) - 1; i > 0 && r.streams[i-1].at > s.at; i-- {
		r.streams[i], r.streams[i-1] = r.streams[i-1], s
	}
}

// Header returns the trace's facts about the recording.
func (r *Reader) Header() Header { return r.header }

// Stats returns the counts so far.
func (r *Reader) Stats() Stats { return r.stats }

// Records iterates over the records that are left: see [etw.Records].
func (r *Reader) Records() iter.Seq2[*etw.Record, error] { return etw.Records(r) }

// Close ends the reading. The streams stay open.
func (r *Reader) Close() error {
	r.streams, r.left, r.log = nil, nil, etw.DamageLog{}
	return nil
}

// Progress returns the share of the streams that was read.
func (r *Reader) Progress() float64 {
	left := int64(0)
	for _, s := range r.streams {
		left += s.size - s.packet - s.cursor.at/8
	}
	if r.size == 0 {
		return 1
	}
	return 1 - float64(left)/float64(r.size)
}

// Next sets rec to the next record: see [etw.Source].
func (r *Reader) Next(rec *etw.Record) error {
	if r.left != nil {
		r.enter(r.left)
		r.left = nil
	}
	if len(r.streams) == 0 {
		err := r.log.Err()
		r.log = etw.DamageLog{}
		err = cmp.Or(err, io.EOF)
		return err
	}
	s := r.streams[0]
	r.left, r.streams = s, r.streams[1:]
	c := s.class
	*rec = etw.Record{
		Kind: etw.KindManifest, Provider: c.provider.GUID, ProviderName: c.provider.Name,
		ID: c.event.id, Version: c.event.version, PointerSize: r.pointer, Processor: s.cpu,
		ProcessID: s.pid, ThreadID: s.tid, Timestamp: s.at, Clock: &r.header.Clock,
		Payload: s.payload, Schema: s.desc,
	}
	r.stats.Records++
	return nil
}
