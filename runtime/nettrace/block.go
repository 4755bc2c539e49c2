package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A layout is how the events in a block are written.
type layout uint8

const (
	compressed layout = iota
	plain
	compressed6
	plain6
	netperf
)

// An eventBlock is a block of events and a position in it. A copy continues on
// its own.
type eventBlock struct {
	data   []byte
	off    int64 // of data in the stream
	at     int   // of the next event
	layout layout
	cut    bool // the stream ends in it
	first  bool // no event was read yet

	h        eventHeader // of the current event
	payload  int         // where its payload is in data
	stack    int         // netperf: where its stack is
	stackEnd int

	meta   *metadata // of the current event, once it was delivered
	thread *Thread   // version 6: the same
}

// eventsHeader reads the header of a block of events or of metadata before
// version 6: u16 size, u16 flags, u64 lowest and u64 highest time, reserved.
func eventsHeader(b []byte, v6 bool) (size int, l layout, ok bool) {
	if len(b) < 4 {
		return 0, 0, false
	}
	size = int(binary.LittleEndian.Uint16(b))
	if size < 4 || size > len(b) {
		return size, 0, false
	}
	l = plain
	if binary.LittleEndian.Uint16(b[2:])&1 != 0 {
		l = compressed
	}
	if v6 {
		l += compressed6 - compressed
	}
	return size, l, true
}

// next moves to the next event, and reports whether it fits.
func (b *eventBlock) next() bool {
	switch b.layout {
	case compressed, compressed6:
		at := b.h.decode(b.data, b.at, b.layout == compressed6)
		if at < 0 {
			return false
		}
		b.payload, b.at = at, at+int(b.h.size)
	case plain, plain6:
		at, next := b.h.decodePlain(b.data, b.at, b.layout == plain6)
		if at < 0 {
			return false
		}
		b.payload, b.at = at, next
	default:
		at, stack, stackEnd, next := b.h.decodeNetperf(b.data, b.at)
		if at < 0 {
			return false
		}
		b.payload, b.stack, b.stackEnd, b.at = at, stack, stackEnd, next
	}
	return true
}

// deliver sets rec to the current event of b.
func (r *Reader) deliver(rec *etw.Record, b *eventBlock) {
	h := &b.h
	m := b.meta
	if m == nil || h.flags&flagMetadata != 0 {
		m = r.metadataOf(h.metadata)
		b.meta = m
	}
	if m == unknownMetadata {
		r.stats.UnknownMetadata++
	}
	rec.Provider = m.provider
	rec.Kind = etw.Manifest
	rec.ID = m.id
	rec.Version = m.version
	rec.Channel = 0
	rec.Level = m.level
	rec.Opcode = m.opcode
	rec.Task = 0
	rec.Keywords = m.keywords
	rec.ProviderName = m.providerName
	rec.Schema = m.schema

	rec.PointerSize = r.header.PointerSize
	rec.Processor = h.processor
	rec.Timestamp = h.time
	rec.Clock = r.clock
	end := b.payload + int(h.size)
	rec.Payload = b.data[b.payload:end:end]
	rec.Stack.PtrSize = r.header.PointerSize
	rec.Extended = nil
	if b.layout == netperf {
		rec.Stack.Addresses = b.data[b.stack:b.stackEnd:b.stackEnd]
	} else {
		addresses, ok := r.stacks.get(h.stack)
		if !ok {
			r.stats.UnknownStacks++
		}
		rec.Stack.Addresses = addresses
	}
	if r.v6 {
		r.deliver6(rec, b)
	} else {
		rec.ProcessID, rec.ThreadID = r.header.ProcessID, int64(h.thread)
		rec.ActivityID, rec.RelatedActivityID = h.activity, h.related
	}

	r.last = b
	r.stats.Events++
	if h.time < r.newest {
		r.stats.OutOfOrder++
	} else {
		r.newest = h.time
	}
}

// deliver6 sets what version 6 keeps in tables.
func (r *Reader) deliver6(rec *etw.Record, b *eventBlock) {
	h := &b.h
	t := b.thread
	if t == nil || t.Index != h.thread {
		t = r.threads.get(h.thread)
		if t == nil {
			r.stats.UnknownThreads++
			t = &Thread{Index: h.thread, ProcessID: r.header.ProcessID, ThreadID: -1}
		}
		b.thread = t
	}
	rec.ProcessID, rec.ThreadID = t.ProcessID, t.ThreadID
	rec.ActivityID, rec.RelatedActivityID = etw.GUID{}, etw.GUID{}
	if h.labels != 0 {
		if l, ok := r.labels.at.get(uint64(h.labels)); ok {
			l.apply(rec)
		} else {
			r.stats.UnknownLabels++
		}
	}
}

// metadataOf returns the metadata with the given id.
func (r *Reader) metadataOf(id uint32) *metadata {
	if m, ok := r.metadata.get(uint64(id)); ok {
		return m
	}
	return unknownMetadata
}

// addRow takes in a metadata row. A row that makes no sense is counted and
// costs its events their meaning, not the trace.
func (r *Reader) addRow(b []byte, v6 bool) {
	c := cursor{b: b}
	var m row
	if v6 {
		m = readRow6(&c)
	} else {
		m = readRow(&c)
	}
	if c.bad {
		r.stats.BadMetadata++
		return
	}
	if m.fieldsErr != nil {
		r.stats.BadFields++
	}
	r.metadata.put(m.key, m.metadata(r.providers))
}

// addMetadata takes in a block of metadata rows. Before version 6 rows are the
// payloads of events.
func (r *Reader) addMetadata(data []byte) error {
	if r.v6 {
		c := cursor{b: data}
		c.bytes(int(c.u16()))
		for c.left() > 0 && !c.bad {
			row := c.bytes(int(c.u16()))
			if !c.bad {
				r.addRow(row, true)
			}
		}
		if c.bad {
			return damaged("a row does not fit")
		}
		return nil
	}
	size, layout, ok := eventsHeader(data, false)
	if !ok {
		return damaged("its header of %d bytes does not fit", size)
	}
	b := eventBlock{data: data, at: size, layout: layout}
	for b.at < len(data) {
		if !b.next() {
			return damaged("the row at %d does not fit", b.at)
		}
		r.addRow(data[b.payload:b.payload+int(b.h.size)], false)
	}
	return nil
}

// The flags of a sequence point of version 6.
const (
	forgetThreads  = 1
	forgetMetadata = 2
)

// sequencePoint checks the numbers of all threads and forgets what events before
// it could refer to.
//
//	time u64, number of threads u32, each with thread u64 and number u32
//	version 6: time u64, flags u32, number u32, each with uvar index and uvar number
func (r *Reader) sequencePoint(b []byte) error {
	c := cursor{b: b}
	c.u64()
	flags := uint32(0)
	if r.v6 {
		flags = c.u32()
	}
	for range c.u32() {
		var thread uint64
		var sequence uint32
		if r.v6 {
			thread, sequence = c.uvar(64), uint32(c.uvar(32))
		} else {
			thread, sequence = c.u64(), c.u32()
		}
		if c.bad {
			return damaged("a thread does not fit")
		}
		r.loss.point(thread, sequence)
	}
	if c.bad {
		return damaged("its header does not fit")
	}
	r.stats.SequencePoints++
	r.stacks.reset()
	r.labels.at.reset()
	r.threads.dropRemoved()
	if flags&forgetThreads != 0 {
		r.loss.forget()
		r.threads.at.reset()
	}
	if flags&forgetMetadata != 0 {
		r.metadata.reset()
	}
	return nil
}

// removeThreads reads a block of version 6 that says which threads have ended,
// with the number of the last event of each.
func (r *Reader) removeThreads(b []byte) error {
	c := cursor{b: b}
	for c.left() > 0 {
		index, sequence := c.uvar(64), uint32(c.uvar(32))
		if c.bad {
			return damaged("a thread does not fit")
		}
		r.loss.point(index, sequence)
		r.loss.remove(index)
		r.threads.remove(index)
	}
	if r.sort == nil {
		r.threads.dropRemoved()
	}
	return nil
}
