package nettrace

import (
	"slices"
	"sync"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// An event is a header, decoded, in the form in which events are held: the differences from
// one to the next. The rest is in its context.
type event struct {
	time     int64
	thread   uint64
	payload  uint32 // index in the data of the block
	size     uint32 // of the payload
	metadata uint32
	stack    uint32
	context  uint32 // index, and sortPoint
}

// sortPoint is set in the context of an event if no later one of the stream is
// older.
const sortPoint = 1 << 31

// A context is the common part of many events in a row. Within one, all events are of one
// capture thread, in the order of time, and numbered one by one.
type context struct {
	capture           uint64
	first             uint32 // of its events
	sequence          uint32 // of the first
	processor         int32
	labels            uint32
	lost              uint32 // events of the thread before these
	activity, related etw.GUID
}

// A batch is some events of a block, decoded.
type batch struct {
	data     []byte // of the block
	chunk    *chunk // that data is in
	form     form
	events   []event
	contexts []context
	page     *page // that events and contexts are in
	bound    int64 // time of the last sort point
	bytes    int64 // of data that the events take
	runs     int   // of the sorter that are not yet delivered
}

// A page is memory for the events of several batches.
type page struct {
	events   []event // with the capacity pageEvents
	contexts []context
	batches  int // not yet delivered
}

// size returns how many bytes p takes.
func (p *page) size() int64 { return pageEvents*eventBytes + int64(cap(p.contexts))*contextBytes }

// pages are those that are free, of all readers. Neither events nor contexts have
// pointers.
var pages = sync.Pool{New: func() any { return &page{events: make([]event, 0, pageEvents)} }}

// isFull reports whether p has no room for another batch.
func (p *page) isFull() bool { return len(p.events) > pageEvents-batchEvents }

// reset makes p empty.
func (p *page) reset() { p.events, p.contexts = p.events[:0], p.contexts[:0] }

// free leaves p to others.
func (p *page) free() {
	p.reset()
	pages.Put(p)
}

// batchEvents is how many events are decoded at a time: enough for most blocks, and
// few enough for the processor's cache. A page has room for the events of more than
// one batch, since many blocks have few.
const (
	batchEvents = 1024
	pageEvents  = 2 * batchEvents
)

const (
	eventBytes   = 40 // of an event in memory
	contextBytes = 64
	batchBytes   = 320 // of a batch, besides
)

// begin makes b empty, with the rest of p to fill.
func (b *batch) begin(p *page, in *eventBlock) {
	n := len(p.events)
	*b = batch{
		data: in.data, form: in.form, page: p, bound: -1 << 63,
		events: p.events[n : n : n+batchEvents], contexts: p.contexts[len(p.contexts):],
	}
}

// end takes the part of b from its page.
func (b *batch) end() {
	p := b.page
	p.events = p.events[:len(p.events)+len(b.events)]
	if len(p.contexts)+len(b.contexts) <= cap(p.contexts) {
		p.contexts = p.contexts[:len(p.contexts)+len(b.contexts)]
	} else {
		p.contexts = b.contexts // they have outgrown it and moved
	}
}

// memory returns how many bytes it takes to hold b.
func (b *batch) memory() int64 {
	return batchBytes + b.bytes + int64(len(b.events))*eventBytes + int64(len(b.contexts))*contextBytes
}

// append adds the event that h is the header of.
func (b *batch) append(h *layout.EventHeader, payload int) {
	n := len(b.events)
	if n == 0 || h.Flags&contextFlags != 0 || h.Time < b.events[n-1].time || h.Sequence != b.sequence(n-1)+1 {
		b.enter(h, n)
	}
	e := event{
		time: h.Time, thread: h.Thread, payload: uint32(payload), size: h.Size,
		metadata: h.Metadata, stack: h.Stack, context: uint32(len(b.contexts) - 1),
	}
	if h.SortPoint {
		e.context |= sortPoint
		b.bound = max(b.bound, h.Time)
	}
	b.events = append(b.events, e)
}

// sequence returns the number of the event at index n of the last context.
func (b *batch) sequence(n int) uint32 {
	c := &b.contexts[len(b.contexts)-1]
	return c.sequence + uint32(n) - c.first
}

// enter starts a context with the event at index n, which h is the header of.
func (b *batch) enter(h *layout.EventHeader, n int) {
	b.addContext(context{
		first: uint32(n), sequence: h.Sequence, capture: h.Capture, processor: h.Processor, labels: h.Labels,
		activity: h.Activity, related: h.Related,
	})
}

// addContext adds a context. Most batches have few; one with many soon needs one for each
// event.
func (b *batch) addContext(c context) {
	if n := len(b.contexts); n == cap(b.contexts) {
		b.contexts = slices.Grow(b.contexts, min(8*max(n, 8), batchEvents)-n)
	}
	b.contexts = append(b.contexts, c)
}

// cut drops the events from index n on.
func (b *batch) cut(n int) {
	b.events, b.bound = b.events[:n], -1<<63
	for len(b.contexts) > 0 && b.contexts[len(b.contexts)-1].first >= uint32(n) {
		b.contexts = b.contexts[:len(b.contexts)-1]
	}
	for i := range b.events {
		if e := &b.events[i]; e.context&sortPoint != 0 {
			b.bound = max(b.bound, e.time)
		}
	}
}

// contextEnd returns the index after the last event of context i.
func (b *batch) contextEnd(i int) int {
	if i+1 < len(b.contexts) {
		return int(b.contexts[i+1].first)
	}
	return len(b.events)
}

// inTime reports whether the times of the events are between those in the header of
// their block.
func (b *batch) inTime(in *eventBlock) bool {
	if in.low > in.high {
		return true
	}
	for i := range b.contexts {
		if b.events[b.contexts[i].first].time < in.low || b.events[b.contextEnd(i)-1].time > in.high {
			return false
		}
	}
	return true
}

// cutGarbage drops events that may have been decoded of a damaged block after the fault:
// from the first event on whose time is not between those in the header.
func (b *batch) cutGarbage(in *eventBlock) {
	if in.low > in.high {
		return
	}
	for i := range b.events {
		if t := b.events[i].time; t < in.low || t > in.high {
			b.cut(i)
			return
		}
	}
}

// decode decodes events of in until b is full, and reports whether they fit.
func (b *batch) decode(in *eventBlock) bool {
	if in.form == compressed {
		return b.decodeCompressed(in)
	}
	for len(b.events) < cap(b.events) && in.at < len(in.data) {
		payload, ok := in.next()
		if !ok {
			return false
		}
		b.append(&in.h, payload)
	}
	return true
}
