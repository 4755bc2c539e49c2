package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// deliver sets rec to an event: first to the common part of all events of its kind, then the
// rest.
func (r *Reader) deliver(rec *etw.Record, k *kindOf, b *batch, e *event) {
	*rec = k.record
	c := &b.contexts[e.context&^sortPoint]
	rec.Processor, rec.Lost = c.processor, c.lost
	rec.Timestamp = e.time
	end := e.payload + e.size
	rec.Payload = b.data[e.payload:end:end]
	if r.known.v6 {
		r.deliver6(rec, e, c)
	} else {
		rec.ThreadID = int64(e.thread)
		rec.ActivityID = c.activity
		rec.RelatedActivityID = c.related
	}
	if e.stack != 0 {
		addresses, ok := r.known.stacks.get(e.stack)
		if !ok {
			r.stats.UnknownStacks++
		}
		rec.Stack.Addresses = addresses
	}
	if k.rare {
		r.deliverRare(rec, k, b, e)
	}
	r.count(e.time)
}

// deliverRare does the work that few kinds of events need.
func (r *Reader) deliverRare(rec *etw.Record, k *kindOf, b *batch, e *event) {
	if k.unknown {
		r.stats.UnknownMetadata++
	}
	if b.form == netperf {
		rec.Stack.Addresses = netperfStack(b, e)
	}
	if k.widths != nil && k.widths.Describe(rec) {
		k.record.Schema, k.widths = rec.Schema, nil
	}
	if k.header {
		r.headers.Apply(rec)
	}
	k.rare = k.unknown || k.header || k.widths != nil || b.form == netperf
}

// netperfStack returns the addresses behind the payload of an event. Their size was
// looked at before, but the memory may be a file that somebody writes to.
func netperfStack(b *batch, e *event) []byte {
	stack := b.data[e.payload+e.size:]
	n := binary.LittleEndian.Uint32(stack)
	stack = stack[4:]
	return stack[:min(n, uint32(len(stack))):min(n, uint32(len(stack)))]
}

// deliver6 sets the parts that version 6 keeps in tables.
func (r *Reader) deliver6(rec *etw.Record, e *event, c *context) {
	if t := r.known.threads.get(e.thread); t != nil {
		rec.ProcessID, rec.ThreadID = t.ProcessID, t.ThreadID
	} else {
		r.stats.UnknownThreads++
	}
	if c.labels != 0 {
		if l, ok := r.known.labels.at.get(uint64(c.labels)); ok {
			l.apply(rec)
		} else {
			r.stats.UnknownLabels++
		}
	}
}
