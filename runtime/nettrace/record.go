package nettrace

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// deliver sets rec to an event: first to what all events of its kind have in
// common, then the rest.
func (r *Reader) deliver(rec *etw.Record, b *batch, e *event) {
	if e.metadata != r.kind.id || r.kind.record == nil {
		r.setKind(e.metadata)
	}
	*rec = *r.kind.record
	if r.kind.unknown {
		r.stats.UnknownMetadata++
	}
	c := &b.contexts[e.context&^sortPoint]
	rec.Processor = c.processor
	rec.Timestamp = e.time
	end := e.payload + e.size
	rec.Payload = b.data[e.payload:end:end]
	switch r.header.Version {
	case 3:
		rec.Stack.Addresses = netperfStack(b, e)
		fallthrough
	default:
		rec.ThreadID = int64(e.thread)
		rec.ActivityID, rec.RelatedActivityID = c.activity, c.related
	case 6:
		r.deliver6(rec, e, c)
	}
	if e.stack != 0 {
		addresses, ok := r.stacks.get(e.stack)
		if !ok {
			r.stats.UnknownStacks++
		}
		rec.Stack.Addresses = addresses
	}
	if r.kind.guess != nil {
		r.guessWidths(rec)
	}
	r.stats.Records++
	if e.time < r.newest {
		r.stats.OutOfOrder++
	} else {
		r.newest = e.time
	}
}

// netperfStack returns the addresses behind the payload of an event.
func netperfStack(b *batch, e *event) []byte {
	at := e.payload + e.size + 4
	end := at + binary.LittleEndian.Uint32(b.data[at-4:])
	return b.data[at:end:end]
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

// A kindOf is the kind of the event that was delivered last.
type kindOf struct {
	id      uint32
	record  *etw.Record
	unknown bool
	guess   *guess // nil if it is known how wide its numbers are
}

// setKind looks up what the stream says of a kind of events.
func (r *Reader) setKind(id uint32) {
	m, ok := r.metadata.get(uint64(id))
	if !ok {
		m = &r.common
	}
	r.kind = kindOf{id, m, !ok, r.guesses[id]}
}
