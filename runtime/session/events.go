package session

import (
	"encoding/binary"
	"math"
	"time"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/extended"
	"github.com/etwgen/etwgen/runtime/internal/rawevent"
	"github.com/etwgen/etwgen/runtime/schema"
)

// Where Windows calls back for each event, its memory is good during the call only. So
// the event is copied to a chunk, back to back with others, each padded to 8 bytes:
//
//	0   size of all, u32
//	4   number of extended items, u16
//	6   processor, u16
//	8   EVENT_HEADER
//	88  the items: type u16, size u16, 4 bytes of nothing, and the data, padded to 8
//	..  size of the payload, u32, 4 bytes of nothing, and the payload, padded to 8
const (
	entryHeader     = 8
	entryItems      = entryHeader + int(unsafe.Sizeof(rawevent.Header{}))
	entryPartHeader = 8
)

// appendEvent appends an event in that form.
func appendEvent(b []byte, e *rawevent.Record) []byte {
	at := len(b)
	processor := uint16(e.Processor[0])
	if e.Header.Flags&rawevent.ProcessorIndex != 0 {
		processor |= uint16(e.Processor[1]) << 8
	}
	count := e.ExtendedCount
	if e.Extended == nil {
		count = 0
	}
	b = append(b, 0, 0, 0, 0, byte(count), byte(count>>8), byte(processor), byte(processor>>8))
	b = append(b, (*[unsafe.Sizeof(rawevent.Header{})]byte)(unsafe.Pointer(&e.Header))[:]...)
	if count > 0 {
		items := unsafe.Slice(e.Extended, int(count))
		for i := range items {
			item := &items[i]
			size := item.Size
			// The address is a number of 64 bits, of which the lower ones, which come
			// first, are the pointer.
			data := *(**byte)(unsafe.Pointer(&item.Data))
			if data == nil {
				size = 0
			}
			b = append(b, byte(item.Type), byte(item.Type>>8), byte(size), byte(size>>8), 0, 0, 0, 0)
			b = appendPadded(b, data, int(size))
		}
	}
	length := e.UserDataLength
	if e.UserData == nil {
		length = 0
	}
	b = append(b, byte(length), byte(length>>8), 0, 0, 0, 0, 0, 0)
	b = appendPadded(b, e.UserData, int(length))
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

func appendPadded(b []byte, p *byte, n int) []byte {
	if n == 0 {
		return b
	}
	b = append(b, unsafe.Slice(p, n)...)
	var zeros [8]byte
	return append(b, zeros[:-n&7]...)
}

// An eventStream has the records of chunks of events.
type eventStream struct {
	clock       *etw.Clock
	pointerSize etw.PtrSize // of the system
	window      int64       // ticks
	memory      int

	chunks  []chunk // of which the first is being read
	at      int     // in the first
	waiting int     // bytes
	newest  int64
	floor   int64
	free    func([]byte)
	last    []byte // a chunk whose last record is in use

	items   []etw.ExtendedItem
	schemas *schema.Set
	owners  *classic.Owners
	stats   decoded

	class     etw.GUID // of the last record with a name for it
	className string
}

// A decoded is the counts of decoding.
type decoded struct {
	records, outOfOrder int64
	previous            int64
	begun               bool
}

// newEventStream returns a stream with a clock, of a system with a pointer size.
func newEventStream(clock *etw.Clock, size etw.PtrSize, o *Consumption, free func([]byte)) *eventStream {
	s := &eventStream{clock: clock, pointerSize: size, memory: o.WindowBytes, free: free, newest: math.MinInt64, floor: math.MinInt64}
	if o.Window > 0 {
		s.window = ticksOf(clock, o.Window)
	}
	if !o.WithoutSchemas {
		s.schemas = new(schema.Set)
	}
	if !o.WithoutAttribution {
		s.owners = new(classic.Owners)
	}
	return s
}

// ticksOf returns how many ticks of a clock a time takes, without overflow.
func ticksOf(clock *etw.Clock, d time.Duration) int64 {
	if d > math.MaxInt64/200 { // years: for ever
		return math.MaxInt64
	}
	n := clock.Ticks(clock.Start+etw.FileTime(d/100)) - clock.Origin
	return max(n, 0)
}

// add adds a chunk, and learns the facts of its events about others.
func (s *eventStream) add(c chunk) {
	if c.events == 0 {
		s.free(c.data)
		return
	}
	s.chunks = append(s.chunks, c)
	s.waiting += len(c.data)
	var rec etw.Record
	for at := 0; at < len(c.data); {
		entry := entryAt(c.data, at)
		h := headerOf(entry)
		s.newest = max(s.newest, h.TimeStamp)
		if s.learns(h) {
			s.fill(&rec, entry)
			if s.schemas != nil {
				s.schemas.Learn(&rec)
			}
			if s.owners != nil {
				s.owners.Learn(&rec)
			}
		}
		at += len(entry)
	}
}

// learns reports whether an event says something of others.
func (s *eventStream) learns(h *rawevent.Header) bool {
	if h.Flags&rawevent.Classic == 0 {
		return s.schemas != nil && schema.Holds(etw.Key{Kind: etw.KindManifest, ID: h.ID})
	}
	return s.owners != nil && classic.Learns(h.ProviderID, etw.Opcode(h.Opcode)) ||
		s.schemas != nil && schema.Holds(etw.Key{Kind: etw.KindClassic, Provider: h.ProviderID, ID: uint16(h.Opcode)})
}

// entryAt returns the event at an offset of a chunk.
func entryAt(data []byte, at int) []byte {
	n := int(binary.LittleEndian.Uint32(data[at:]))
	return data[at : at+n : at+n]
}

func headerOf(entry []byte) *rawevent.Header {
	return (*rawevent.Header)(unsafe.Pointer(&entry[entryHeader]))
}

// next sets r to the next record, and reports whether there is one that need not wait.
func (s *eventStream) next(r *etw.Record) bool {
	if s.last != nil {
		s.free(s.last)
		s.last = nil
	}
	if len(s.chunks) == 0 {
		return false
	}
	c := &s.chunks[0]
	entry := entryAt(c.data, s.at)
	h := headerOf(entry)
	if h.TimeStamp > s.due() && s.waiting <= s.memory {
		return false
	}
	s.fill(r, entry)
	s.stats.note(h.TimeStamp)
	if s.schemas != nil {
		s.schemas.Describe(r)
	}
	if s.owners != nil {
		s.owners.Attribute(r)
	}
	if s.at += len(entry); s.at == len(c.data) {
		s.last, s.at = c.data, 0
		s.waiting -= len(c.data)
		n := copy(s.chunks, s.chunks[1:])
		s.chunks[n] = chunk{}
		s.chunks = s.chunks[:n]
	}
	return true
}

// due returns the time up to which records need not wait.
func (s *eventStream) due() int64 {
	if s.window == 0 {
		return math.MaxInt64
	}
	if s.newest < math.MinInt64+s.window {
		return max(math.MinInt64, s.floor)
	}
	return max(s.newest-s.window, s.floor)
}

func (s *eventStream) release() { s.floor = max(s.floor, s.newest) }

func (s *eventStream) waits() bool { return len(s.chunks) > 0 }

// note counts a record.
func (d *decoded) note(at int64) {
	d.records++
	if d.begun && at < d.previous {
		d.outOfOrder++
	}
	d.previous, d.begun = max(at, d.previous), true
}

// fill sets r to an event.
func (s *eventStream) fill(r *etw.Record, entry []byte) {
	rawevent.Set(r, headerOf(entry), s.pointerSize)
	r.Processor, r.Clock = int32(binary.LittleEndian.Uint16(entry[6:])), s.clock
	if r.Kind == etw.KindClassic {
		r.ProviderName = s.nameOf(r.Provider)
	}
	s.fillParts(r, entry)
}

// fillParts sets the parts that have a size of their own.
func (s *eventStream) fillParts(r *etw.Record, entry []byte) {
	s.items = s.items[:0]
	p := entry[entryItems:]
	for range binary.LittleEndian.Uint16(entry[4:]) {
		typ := etw.ExtendedType(binary.LittleEndian.Uint16(p))
		size := int(binary.LittleEndian.Uint16(p[2:]))
		data := p[entryPartHeader : entryPartHeader+size : entryPartHeader+size]
		if extended.Take(r, typ, data) {
			s.items = append(s.items, etw.ExtendedItem{Type: typ, Data: data})
		}
		p = p[entryPartHeader+(size+7)&^7:]
	}
	if len(s.items) > 0 {
		r.Extended = s.items
	}
	n := int(binary.LittleEndian.Uint32(p))
	r.Payload = p[entryPartHeader : entryPartHeader+n : entryPartHeader+n]
}

// nameOf returns the name of a class.
func (s *eventStream) nameOf(class etw.GUID) string {
	if class != s.class {
		s.class, s.className = class, classic.ClassName(class)
	}
	return s.className
}
