package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// deliver sets rec to an event: first to what all events of its kind have in
// common, then the rest.
func (r *Reader) deliver(rec *etw.Record, b *batch, e *event) {
	k := r.kind
	if k == nil || k.id != e.metadata {
		k = r.setKind(e.metadata)
	}
	*rec = k.record
	c := &b.contexts[e.context&^sortPoint]
	rec.Processor = c.processor
	rec.Timestamp = e.time
	end := e.payload + e.size
	rec.Payload = b.data[e.payload:end:end]
	if r.v6 {
		r.deliver6(rec, e, c)
	} else {
		rec.ThreadID = int64(e.thread)
		rec.ActivityID = c.activity
		rec.RelatedActivityID = c.related
	}
	if e.stack != 0 {
		addresses, ok := r.stacks.get(e.stack)
		if !ok {
			r.stats.UnknownStacks++
		}
		rec.Stack.Addresses = addresses
	}
	if k.rare {
		r.deliverRare(rec, b, e)
	}
	r.stats.Records++
	if e.time < r.newest {
		r.stats.OutOfOrder++
	} else {
		r.newest = e.time
	}
}

// deliverRare does what few kinds of events need.
func (r *Reader) deliverRare(rec *etw.Record, b *batch, e *event) {
	k := r.kind
	if k.unknown {
		r.stats.UnknownMetadata++
	}
	if b.form == netperf {
		rec.Stack.Addresses = netperfStack(b, e)
	}
	if k.widths != nil && k.widths.Describe(rec) {
		k.record.Schema, k.widths = rec.Schema, nil
	}
	k.rare = k.unknown || k.widths != nil || b.form == netperf
}

// netperfStack returns the addresses behind the payload of an event. Their size was
// looked at before, but the memory may be a file that somebody writes to.
func netperfStack(b *batch, e *event) []byte {
	stack := b.data[e.payload+e.size:]
	n := binary.LittleEndian.Uint32(stack)
	stack = stack[4:]
	return stack[:min(n, uint32(len(stack))):min(n, uint32(len(stack)))]
}

// deliver6 sets what version 6 keeps in tables.
func (r *Reader) deliver6(rec *etw.Record, e *event, c *context) {
	if t := r.threads.get(e.thread); t != nil {
		rec.ProcessID, rec.ThreadID = t.ProcessID, t.ThreadID
	} else {
		r.stats.UnknownThreads++
	}
	if c.labels != 0 {
		if l, ok := r.labels.at.get(uint64(c.labels)); ok {
			l.apply(rec)
		} else {
			r.stats.UnknownLabels++
		}
	}
}

// A kindOf is what the stream says of a kind of events.
type kindOf struct {
	id      uint32
	record  etw.Record     // what all have in common
	unknown bool           // the stream says nothing
	widths  *schema.Widths // of its numbers, nil if they are known
	rare    bool           // there may be more to do for an event than for most
}

// setKind looks up what the stream says of a kind of events.
func (r *Reader) setKind(id uint32) *kindOf {
	k, ok := r.kinds.get(uint64(id))
	if !ok {
		k = &r.unknown
		k.id = id
	}
	r.kind = k
	return k
}
