package perfdata

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/etwgen/etwgen/internal/unzstd"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
	"github.com/etwgen/etwgen/runtime/internal/universal"
)

// A Reader reads a perf.data. It is an [etw.Source] that delivers records in the order of
// time.
type Reader struct {
	src    io.ReaderAt
	size   int64
	order  binary.ByteOrder
	header Header
	data   section
	ended  time.Time // when the recording was, as the caller knows
	open   func(Code) CodeFile
	unwind func(*universal.Translator, string) bool // nil leaves stacks as they are
	maps   []perfMap

	moved, movedEnd int64 // how far what is behind the data, and the end of the file, are from where the header has them
	displaced       int64 // how far the places of the features alone are

	events []*event
	byID   map[uint64]*event
	ids    int
	copies []asked // that differ from those of events

	formats   map[uint16]*etw.EventDesc
	providers map[string]*etw.ProviderDesc
	buildIDs  map[string]string // by path
	kallsyms  []byte

	firstSample, lastSample int64 // their times, as the header has them
	wall, wallClock         int64 // the same time, by the wall and by the clock of the records

	in         *bufio.Reader
	at         int64 // where in the file it is
	before     int64 // where the record before began, 0 if there is none
	again      int64 // bytes that were read again after damage
	long       int   // bytes that the record had more than it needs
	unpacker   *unzstd.Unpacker
	unpackable bool   // it has not met damage
	rest       []byte // unpacked, and not yet a whole record
	rounds     rounds
	waiting    held // the last record, which the next one may prove to be none
	waits      int  // its size; 0 if there is none

	translator   universal.Translator
	begun        bool // the translator is there
	seesBlocking bool
	newest       int64 // the latest time so far
	finished     bool
	log          etw.DamageLog
	stats        Stats
}

// Stats are counts of the reading.
type Stats struct {
	Records     int64 // delivered
	Samples     int64 // of perf, whatever they are of
	Lost        int64 // records that perf says the kernel had no room for
	Undecodable int64 // records that are damaged
	NotUnwound  int64 // samples with a copy of the stack of which the callers were not found
	Copies      int64 // samples with a copy of the stack
	Skipped     int64 // records that have nothing for a Reader
	OutOfOrder  int64 // records that come so late that they have a later time than they had
}

// An Option changes how a file is read.
type Option func(*Reader)

// WithEnd says when the recording was over, such as the time of the file: Clock starts by it if
// the file does not tell the wall time itself.
func WithEnd(t time.Time) Option { return func(r *Reader) { r.ended = t } }

// A Code says which file was mapped.
type Code struct {
	Path    string
	BuildID string // in hexadecimal, "" if the recording does not tell
	// Device is where the file was, as in "fd:01 1234": the numbers of the device and of the
	// file there, "" if the recording does not tell.
	Device string
}

// A CodeFile is a file with code.
type CodeFile interface {
	io.ReaderAt
	io.Closer
}

// WithCode has copies of stacks unwound, as --call-graph dwarf takes them. open returns the
// file that was mapped, or nil. Who hands it in decides which files are opened, and sees to it
// that they are those that were recorded.
func WithCode(open func(Code) CodeFile) Option {
	return func(r *Reader) { r.open, r.unwind = open, (*universal.Translator).Unwind }
}

// NewReader returns a Reader of a file of size bytes. It reads ahead to the first records.
func NewReader(src io.ReaderAt, size int64, opts ...Option) (*Reader, error) {
	r := &Reader{src: src, size: max(size, 0)}
	for _, o := range opts {
		o(r)
	}
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	r.setCodeRegister()
	r.at = r.data.offset
	r.in = bufio.NewReaderSize(io.NewSectionReader(src, r.data.offset, r.data.size), 1<<16)
	for !r.begun && !r.finished {
		if err := r.more(); err != nil {
			return nil, err
		}
	}
	for _, e := range r.events {
		r.header.Events = append(r.header.Events, e.title())
	}
	return r, nil
}

// Header returns the file's facts about the recording. Of a pipe's output these are the ones
// before the first records.
func (r *Reader) Header() Header { return r.header }

// Stats returns the counts so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Lost, s.NotUnwound = r.translator.Stats.Lost, s.Copies-r.translator.Stats.Unwound
	return s
}

// Records iterates over the records that are left: see [etw.Records].
func (r *Reader) Records() iter.Seq2[*etw.Record, error] { return etw.Records(r) }

// Close ends the reading. The underlying reader stays open.
func (r *Reader) Close() error {
	r.finished, r.log = true, etw.DamageLog{}
	r.translator.Clear()
	return nil
}

// Progress returns the share of the data that was read.
func (r *Reader) Progress() float64 {
	if r.data.size == 0 {
		return 1
	}
	return float64(r.at-r.data.offset) / float64(r.data.size)
}

// Next sets rec to the next record: see [etw.Source].
func (r *Reader) Next(rec *etw.Record) error {
	for !r.translator.Next(rec, &r.header.Clock) {
		if r.finished {
			err := r.log.Err()
			r.log = etw.DamageLog{}
			err = cmp.Or(err, io.EOF)
			return err
		}
		if err := r.more(); err != nil {
			return err
		}
	}
	r.stats.Records++
	return nil
}

//go:noinline
func (r *Reader) damage(offset int64, part string, err error) {
	r.log.Add(&etw.Damage{Format: "perfdata", Offset: offset, Part: part, Err: err})
}

// more reads a record of the file.
func (r *Reader) more() error {
	head, err := r.in.Peek(perfevent.HeaderSize)
	if len(head) == 0 && err == io.EOF {
		return r.finish()
	}
	size, b := 0, []byte(nil)
	if len(head) == perfevent.HeaderSize {
		var why error
		if size, why = r.plausible(head); why != nil {
			return r.mend(why)
		}
		b, err = r.in.Peek(size)
	}
	switch {
	case err == io.EOF:
		return r.end()
	case err != nil:
		return r.broken(err)
	}
	extra := r.take(b)
	if extra < 0 || extra > r.data.offset+r.data.size-r.at-int64(size) {
		return r.mend(fmt.Errorf("it says that %d bytes belong to it, which the file does not have", uint64(extra)))
	}
	r.before = r.at
	r.at += int64(size) + extra
	if r.long > 0 {
		why := fmt.Errorf("the one before has %d bytes more than it needs", r.long)
		r.long = 0
		return r.mend(why)
	}
	_, err = r.in.Discard(size)
	if err == nil && extra > 0 {
		_, err = io.CopyN(io.Discard, r.in, extra)
	}
	return err
}

// end takes that the data end within a record, unless its size is to blame: then there are others
// in what it claims.
func (r *Reader) end() error {
	r.doubt()
	at, err := r.search(r.at + 1)
	if err != nil {
		return r.broken(err)
	}
	if at >= 0 {
		r.damaged(fmt.Sprintf("it says that it has more bytes than there are, and at byte %d is another", at))
		return r.seek(at)
	}
	r.damage(r.at, "record", fmt.Errorf("the data end within it, after %d bytes", r.data.offset+r.data.size-r.at))
	return r.finish()
}

// broken takes that the file cannot be read.
func (r *Reader) broken(err error) error {
	r.finished = true
	return fmt.Errorf("%w: %w", etw.ErrIncomplete, err)
}

// The types of records that perf itself writes.
const (
	typeAttr      = 64
	typeTracing   = 66
	typeBuildID   = 67
	typeRound     = 68
	typeAux       = 71
	typeUpdate    = 78
	typeFeature   = 80
	typePacked    = 81
	typePackedToo = 83 // with its size
)

// take takes a record of the file, and returns how many bytes behind it belong to it.
func (r *Reader) take(b []byte) (extra int64) {
	kind, body := r.order.Uint32(b), b[perfevent.HeaderSize:]
	p := parts{order: r.order, b: body}
	switch kind {
	case typeAttr:
		r.pipedAttr(body)
	case typeTracing:
		extra = int64(p.u32()+7) &^ 7
		text, err := r.read(section{r.at + int64(len(b)), extra})
		if err != nil || !r.tracing(text) {
			r.damage(r.at, "record", errors.New("what it says of events of the kernel is not readable"))
		}
	case typeBuildID:
		r.buildID(b)
	case typeRound:
		r.settle()
		r.rounds.next(r.flush)
	case typeAux:
		const auxSize = 40
		if extra = int64(p.u64()); len(body) != auxSize {
			extra = 0
			r.damaged(fmt.Sprintf("of data beside, it has %d bytes where %d are due", len(body), auxSize))
		}
	case typeUpdate:
		r.update(&p)
	case typeFeature:
		if n := p.u64(); n < features && isRead(int(n)) && !r.feature(int(n), p.b) {
			r.damage(r.at, "record", fmt.Errorf("part %d of the header is too short", n))
		}
	case typePacked:
		r.unpack(body)
	case typePackedToo:
		if n := p.u64(); n > uint64(len(p.b)) || p.bad {
			r.damaged("a packed record is too short")
		} else {
			r.unpack(p.b[:n])
		}
	default:
		r.record(b)
	}
	return extra
}

// update takes the name that an event has from now on.
func (r *Reader) update(p *parts) {
	const isName = 2
	if p.u64() != isName {
		return
	}
	if e := r.byID[p.u64()]; e != nil && !p.bad {
		name, _, _ := bytes.Cut(p.b, []byte{0})
		e.name = string(name)
	}
}

// pipedAttr takes perf's request to the kernel.
func (r *Reader) pipedAttr(b []byte) {
	a, ok := parseAttr(b, r.order)
	if !ok || r.addEvent(a, b[a.size:]) != nil {
		r.damaged("what perf asked for is not readable")
	}
	r.setCodeRegister()
}

func (r *Reader) damaged(why string) {
	r.stats.Undecodable++
	r.damage(r.at, "record", errors.New(why))
}

// unpack takes a part of the packed records. Behind damage nothing unpacks but another frame.
func (r *Reader) unpack(b []byte) {
	var err error
	if r.unpacker == nil || !r.unpackable && bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")) {
		r.header.Packed, r.unpackable = true, true
		r.unpacker, err = unzstd.New()
	}
	if err == nil && r.unpackable {
		err = r.unpacker.Unpack(b, r.unpacked)
	}
	switch {
	case err != nil:
		r.damaged("it does not unpack, and nor does what follows: " + err.Error())
		r.unpackable, r.rest = false, nil
	case !r.unpackable:
		r.stats.Undecodable++ // after one that was damaged
	}
}

// unpacked takes records, of which the last one may go on later.
func (r *Reader) unpacked(b []byte) {
	if !r.unpackable {
		return
	}
	if len(r.rest) > 0 {
		r.rest = append(r.rest, b...)
		b = r.rest
	}
	for len(b) >= perfevent.HeaderSize {
		size := int(r.order.Uint16(b[6:]))
		if size < perfevent.HeaderSize {
			r.doubt()
			r.damaged(fmt.Sprintf("a record that was packed says that it has %d bytes, so the next one is not found", size))
			r.unpackable, b = false, nil
			break
		}
		if size > len(b) {
			break
		}
		r.record(b[:size])
		if r.long > 0 {
			r.damaged(fmt.Sprintf("a record that was packed has %d bytes more than it needs", r.long))
			r.long = 0
		}
		b = b[size:]
	}
	r.rest = append(r.rest[:0], b...)
}

// record takes a record of the kernel.
func (r *Reader) record(b []byte) {
	if len(r.events) == 0 {
		r.stats.Skipped++
		return
	}
	r.settle()
	h, ok := r.parse(b)
	switch {
	case !ok:
		r.damaged(fmt.Sprintf("of type %d and %d bytes, it has not the size of its type", r.order.Uint32(b), len(b)))
	case h.Kind == perfevent.Other && r.isStrange(b):
		r.stats.Undecodable++
	case h.Kind == perfevent.Other:
		r.stats.Skipped++
	default:
		r.long = h.Extra
		r.waiting, r.waits = h, len(b)
	}
}

// parse reads a record by the layout of its event, and reports whether it has the size of its type.
func (r *Reader) parse(b []byte) (held, bool) {
	kind, misc, body := r.order.Uint32(b), r.order.Uint16(b[4:]), b[perfevent.HeaderSize:]
	e := r.events[0]
	if id, ok := e.layout.Identity(kind, body); ok && len(r.events) > 1 {
		if of := r.byID[id]; of != nil {
			e = of
		}
	}
	rec, ok := e.layout.Parse(kind, misc, body)
	return held{rec, e}, ok
}

// flush takes a record that nothing can come before any more.
func (r *Reader) flush(h *held) {
	rec := &h.Record
	if !r.begun {
		if rec.Time == 0 && r.rounds.first > 0 {
			r.begin(r.rounds.first)
		} else {
			r.begin(rec.Time)
		}
	}
	if rec.Time != 0 && rec.Time < r.newest {
		r.stats.OutOfOrder++
	}
	r.newest = max(r.newest, rec.Time)
	switch rec.Kind {
	case perfevent.Sample:
		r.sample(h.event, rec)
	case perfevent.Gone:
		if rec.Kind = perfevent.Blocked; !r.seesBlocking {
			r.translator.Take(rec)
		}
	case perfevent.Comm:
		if rec.Time == 0 && rec.PID == rec.TID {
			r.translator.Existing(rec, rec.Name)
			return
		}
		r.translator.Take(rec)
	case perfevent.Fork:
		if rec.Time != 0 { // else what it is comes of its own
			r.translator.Take(rec)
		}
	case perfevent.Symbol:
		r.translator.Function(rec.PID, rec.Start, rec.Length, rec.Name)
	default:
		r.translator.Take(rec)
	}
}

// begin sets the clock, and begins to translate at a time.
func (r *Reader) begin(at int64) {
	r.begun = true
	for _, e := range r.events {
		if !e.resolved {
			r.resolve(e)
		}
	}
	c := &r.header.Clock
	c.Frequency, c.Origin = 1e9, at
	const tick = 100 // of a FILETIME, in nanoseconds
	switch {
	case r.header.Dated:
		wall := r.wall + (at - r.wallClock)
		c.Origin -= wall % tick
		c.Start = etw.FileTimeOf(time.Unix(0, wall-wall%tick))
	case !r.ended.IsZero():
		lasted := max(r.lastSample-at, 0)
		c.Start = etw.FileTimeOf(r.ended.Add(-time.Duration(lasted)))
	}
	r.header.SamplingInterval = r.clockEvent().interval()
	r.translator = universal.NewTranslator(host{r}, c.Origin)
	if r.unwind != nil {
		r.unwind(&r.translator, r.header.Arch)
	}
}

// finish takes the rest at the end of the file.
func (r *Reader) finish() error {
	r.finished = true
	r.settle()
	if len(r.rest) > 0 {
		r.damaged("what was packed ends within a record")
	}
	r.rounds.rest(r.flush)
	if !r.begun {
		r.begin(0)
	}
	if r.translator.InKernel() && len(r.kallsyms) > 0 {
		// Without addresses there are no names, as in a file without the list.
		if err := r.translator.NameKernel(bytes.NewReader(r.kallsyms)); err != nil && !errors.Is(err, universal.ErrNoAddresses) {
			r.damage(r.at, "functions of the kernel", err)
		}
	}
	r.nameCompiled()
	r.translator.Ended = true
	return nil
}
