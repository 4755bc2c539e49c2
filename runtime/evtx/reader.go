package evtx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Reader reads an event log. It is an [etw.Source] that delivers records in the order of their
// ids in the file, so that a log which has gone round begins with its oldest; records from where
// a log has no records any more come with its chunk.
type Reader struct {
	src    io.ReaderAt
	size   int64
	header Header
	clock  etw.Clock
	places []place
	next   int // of places
	stats  Stats
	log    etw.DamageLog
	ended  bool

	buf   []byte
	chunk *chunk
	found found
	build builder

	texts      map[string]string
	descs      map[string]*etw.EventDesc
	key        []byte
	rid        [8]byte
	qualifiers [2]byte

	keepXML bool
	xml     []byte
}

// Stats are counts of the reading.
type Stats struct {
	Records     int64 // delivered
	Carved      int64 // of these, found where a log has no records any more
	Undecodable int64 // records that are damaged, and so were not delivered
	Remnants    int64 // records where a log has none any more, overwritten in part and not delivered
	Missing     int64 // records that lay between the chunks which are there, by their numbers
	Chunks      int64 // with records
	Mismatches  int64 // chunks whose checksums are wrong, as they are while a log is in use
}

// NewReader returns a Reader of a log of size bytes.
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	head := make([]byte, min(headerSize, max(size, 0)))
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	h, err := parseHeader(head)
	if err != nil {
		return nil, err
	}
	r := &Reader{src: src, size: size, header: h, texts: map[string]string{}, descs: map[string]*etw.EventDesc{}}
	if r.places, err = places(src, size); err != nil {
		return nil, err
	}
	r.short()
	r.stats.Missing = int64(min(missing(r.places), 1<<62))
	r.clock = etw.Clock{Frequency: 1e7}
	return r, r.start()
}

// short says that the file ends before its chunks begin, or has fewer of them than its header says.
// More is no damage: the header of a log in use is older than its chunks.
func (r *Reader) short() {
	if r.size < headerBlock {
		r.damage(r.size, "header", fmt.Errorf("the file ends within it, after %d bytes of %d", r.size, headerBlock))
	} else if n := int(r.header.Chunks); n > len(r.places) {
		r.damage(r.size, "file", fmt.Errorf("it ends after %d of %d chunks", len(r.places), n))
	}
}

// start sets the clock to the first record of the first chunk that has one.
func (r *Reader) start() error {
	var head [chunkHead + recordHead]byte
	for _, p := range r.places {
		n, err := r.src.ReadAt(head[:], p.offset)
		if err != nil && err != io.EOF {
			return err
		}
		if n == len(head) && p.good && string(head[chunkHead:chunkHead+4]) == recordMagic {
			r.clock.Origin = int64(binary.LittleEndian.Uint64(head[chunkHead+16:]))
			r.clock.Start = etw.FileTime(r.clock.Origin)
			break
		}
	}
	return nil
}

// Header returns the head of the file.
func (r *Reader) Header() Header { return r.header }

// Clock is that of time stamps: its ticks are those of a FILETIME, and it starts with the first
// record.
func (r *Reader) Clock() etw.Clock { return r.clock }

// Stats returns the counts so far.
func (r *Reader) Stats() Stats { return r.stats }

// Event returns the log's facts about the record that Next delivered last.
func (r *Reader) Event() Event { return r.found.event }

// AppendXML appends the XML of the record that Next delivered last, in one line, as wevtutil
// prints it.
func (r *Reader) AppendXML(b []byte) ([]byte, error) {
	if r.chunk == nil || r.chunk.nodes == nil {
		return b, errors.New("no record was read")
	}
	return r.chunk.context().nodesXML(b, r.chunk.nodes)
}

// KeepXML has each record from now on carry its XML, as AppendXML makes it, in an item of its
// header: ExtXML. One with more than 4 MiB of XML does without.
func (r *Reader) KeepXML() { r.keepXML = true }

// Records iterates over the records that are left: see [etw.Records].
func (r *Reader) Records() iter.Seq2[*etw.Record, error] { return etw.Records(r) }

// Close ends the reading. The underlying reader stays open.
func (r *Reader) Close() error {
	r.ended = true
	return nil
}

// Progress returns the share of the chunks that were read.
func (r *Reader) Progress() float64 {
	if len(r.places) == 0 {
		return 1
	}
	return float64(r.next) / float64(len(r.places))
}

// Next sets rec to the next record: see [etw.Source].
func (r *Reader) Next(rec *etw.Record) error {
	for !r.ended {
		if r.chunk != nil {
			if r.record(rec) {
				return nil
			}
			r.chunk = nil
		}
		if r.next == len(r.places) {
			r.ended = true
			if err := r.log.Err(); err != nil {
				return err
			}
			break
		}
		if err := r.open(r.places[r.next]); err != nil {
			return err
		}
		r.next++
	}
	return io.EOF
}

// open reads a chunk.
func (r *Reader) open(p place) error {
	size := min(p.size, 2*chunkSize)
	if int64(len(r.buf)) < size {
		r.buf = make([]byte, max(size, chunkSize))
	}
	n, err := r.src.ReadAt(r.buf[:size], p.offset)
	if err != nil && err != io.EOF {
		r.ended = true
		return fmt.Errorf("%w: %w", etw.ErrIncomplete, err)
	}
	b := r.buf[:n:n] // so that values end where its memory does
	c := &chunk{parser: newParser(b), offset: p.offset, good: p.good, at: chunkHead, next: chunkHead, free: min(n, chunkSize), steps: maxSteps}
	if p.good && n >= chunkHead {
		if free := int64(binary.LittleEndian.Uint32(b[48:])); free >= chunkHead && free <= int64(c.free) {
			c.free = int(free)
		}
		if !r.header.NoChecksums && !checksums(b, c.free) {
			r.stats.Mismatches++
		}
	}
	switch {
	case p.offset+int64(n) == r.size && n < chunkSize:
		r.damage(p.offset+int64(n), "chunk", fmt.Errorf("the file ends within it, after %d bytes of %d", n, chunkSize))
	case p.size != chunkSize:
		r.damage(p.offset, "chunk", fmt.Errorf("it has %d bytes up to the next one or the end, and not %d: bytes came in or went", p.size, chunkSize))
	}
	if n != chunkSize {
		c.realign(n)
	}
	r.chunk = c
	return nil
}

func (r *Reader) damage(offset int64, part string, err error) {
	r.log.Add(&etw.Damage{Format: "evtx", Offset: offset, Part: part, Err: err})
}

// record sets rec to the next record of the chunk, if it has one.
func (r *Reader) record(rec *etw.Record) bool {
	c := r.chunk
	for {
		from := c.at
		found := c.seek()
		if next := min(c.at, c.free); c.good && from == c.next && next-from >= 8 {
			r.stats.Undecodable++
			r.damage(c.inFile(from), "record", fmt.Errorf("none begins here, and %d bytes are left out", next-from))
		}
		if !found {
			return false
		}
		size, err := c.size()
		if err == nil {
			err = r.decode(c, size)
		}
		carved := !c.good || c.at >= c.free
		if err != nil {
			if carved {
				r.stats.Remnants++
			} else {
				r.stats.Undecodable++
				r.damage(c.inFile(c.at), "record", err)
			}
			c.at += 8
			continue
		}
		if r.stats.Records++; c.records == 0 {
			r.stats.Chunks++
			if !c.good {
				r.damage(c.offset, "chunk", errors.New("its head is damaged; records in it are delivered"))
			}
		}
		c.records++
		r.found.event.Offset = c.inFile(c.at)
		if r.found.event.Carved = carved; carved {
			r.stats.Carved++
		}
		c.at += size
		c.next = c.at
		*rec = r.found.rec
		return true
	}
}

// decode takes the record of size bytes apart and makes its payload.
func (r *Reader) decode(c *chunk, size int) error {
	le := binary.LittleEndian
	f := &r.found
	*f = found{data: f.data[:0], rec: etw.Record{Extended: f.rec.Extended[:0], ProcessID: -1, ThreadID: -1, Processor: -1, Clock: &r.clock}}
	f.event.RecordID = le.Uint64(c.b[c.at+8:])
	f.event.Written = etw.FileTime(le.Uint64(c.b[c.at+16:]))
	in := scope{parser: c.parser, at: c.at + recordHead, end: c.at + size - 4}
	var err error
	if c.nodes, err = in.fragment(); err != nil {
		return err
	}
	if err := c.context().find(c.nodes, f, r); err != nil {
		return err
	}
	if !f.system {
		return errors.New("it has no element System")
	}
	if err := r.build.build(f.data); err != nil {
		return err
	}
	rec := &f.rec
	if rec.Timestamp == 0 {
		rec.Timestamp = int64(f.event.Written)
	}
	if f.event.Classic = rec.Provider.IsZero(); f.event.Classic {
		rec.Provider = etw.NameGUID(rec.ProviderName)
	}
	rec.PointerSize, rec.Payload = r.build.ptr, r.build.payload
	le.PutUint64(r.rid[:], f.event.RecordID)
	rec.Extended = append(rec.Extended, etw.ExtendedItem{Type: ExtChannel, Data: []byte(f.event.Channel)},
		etw.ExtendedItem{Type: ExtComputer, Data: []byte(f.event.Computer)}, etw.ExtendedItem{Type: ExtRecordID, Data: r.rid[:]})
	if r.keepXML {
		if r.xml, err = r.AppendXML(r.xml[:0]); err == nil {
			rec.Extended = append(rec.Extended, etw.ExtendedItem{Type: ExtXML, Data: r.xml})
		}
	}
	rec.Schema = r.schema(rec)
	return nil
}

// A Reader's memory of a file: descriptions and texts. More than that is made for each record.
const (
	maxDescs = 1 << 14
	maxTexts = 1 << 14
	maxText  = 1 << 10 // bytes of one that is kept
)

// schema returns the description of a record, one for all that are alike.
func (r *Reader) schema(rec *etw.Record) *etw.EventDesc {
	le := binary.LittleEndian
	key := append(r.key[:0], rec.Provider[:]...)
	key = le.AppendUint64(le.AppendUint16(le.AppendUint16(key, rec.ID), rec.Task), rec.Keywords)
	key = append(key, rec.Version, byte(rec.Level), byte(rec.Opcode))
	key = r.build.signature(append(append(key, rec.ProviderName...), 0))
	r.key = key
	if d, ok := r.descs[string(key)]; ok {
		return d
	}
	d := &etw.EventDesc{
		Provider: &etw.ProviderDesc{Name: rec.ProviderName, GUID: rec.Provider},
		ID:       rec.ID, Version: rec.Version, Level: rec.Level, Opcode: rec.Opcode, Task: rec.Task, Keywords: rec.Keywords,
		Fields: append([]etw.FieldDesc(nil), r.build.fields...),
	}
	if len(r.descs) < maxDescs && len(key) < 4*maxText {
		r.descs[string(key)] = d
	}
	return d
}

// text returns a text that many records have.
func (r *Reader) text(v value) string {
	r.key = v.appendText(r.key[:0])
	if s, ok := r.texts[string(r.key)]; ok {
		return s
	}
	s := string(r.key)
	if len(r.texts) < maxTexts && len(s) <= maxText {
		r.texts[s] = s
	}
	return s
}
