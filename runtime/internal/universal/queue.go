package universal

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A queue holds records between the kernel, which gives many at once, and Next, in the order
// of time. A rest has the time when a thread went off its processor, and how long it stays
// off is known when it is back: those behind it wait for it.
type queue struct {
	list     []queued
	at       int // the next one
	passed   int // how many were in the list before the first one
	payloads []byte
}

// A queued is a record that is yet to be delivered.
type queued struct {
	desc      *etw.EventDesc // nil if there is nothing to tell
	time      int64
	pid, tid  int32
	processor int32
	from, to  int    // of payloads
	stack     []byte // addresses
	acts      *Activities
	open      bool // it is a rest that lasts
	rest      int64
}

// push appends a record and returns its number.
func (q *queue) push(e queued) int {
	q.list = append(q.list, e)
	return q.passed + len(q.list) - 1
}

// of returns the record with a number, which is not delivered yet.
func (q *queue) of(number int) *queued { return &q.list[number-q.passed] }

// next sets r to the next record, and reports whether there is one.
func (q *queue) next(r *etw.Record, clock *etw.Clock) bool {
	for q.at < len(q.list) && !q.list[q.at].open {
		e := &q.list[q.at]
		q.at++
		if e.desc == nil {
			continue
		}
		if e.desc == ContextSwitch {
			e.from = len(q.payloads)
			q.payloads = binary.AppendUvarint(q.payloads, uint64(e.rest))
			e.to = len(q.payloads)
		}
		*r = etw.Record{
			Provider: e.desc.Provider.GUID, ProviderName: e.desc.Provider.Name, ID: e.desc.ID, Schema: e.desc,
			Version: e.desc.Version, Level: e.desc.Level, Opcode: e.desc.Opcode, Keywords: e.desc.Keywords,
			PointerSize: etw.Ptr64, Processor: e.processor, ProcessID: int64(e.pid), ThreadID: int64(e.tid),
			Timestamp: e.time, Clock: clock, Payload: q.payloads[e.from:e.to:e.to], Stack: etw.Stack{Addresses: e.stack, PtrSize: etw.Ptr64},
		}
		if e.acts != nil {
			r.ActivityID, r.RelatedActivityID = e.acts.ID, e.acts.Related
		}
		return true
	}
	q.forget()
	return false
}

// forget frees the delivered part, once that is larger than the rest.
func (q *queue) forget() {
	left := q.list[q.at:]
	if q.at < len(left) || q.at == 0 {
		return
	}
	base := len(q.payloads)
	for i := range left {
		if left[i].to > left[i].from {
			base = left[i].from
			break
		}
	}
	q.payloads = q.payloads[:copy(q.payloads, q.payloads[base:])]
	n := copy(q.list, left)
	for i := range q.list[:n] {
		if e := &q.list[i]; e.to > e.from {
			e.from, e.to = e.from-base, e.to-base
		}
	}
	clear(q.list[n:])
	q.list, q.passed, q.at = q.list[:n], q.passed+q.at, 0
}

// clear forgets everything.
func (q *queue) clear() {
	q.passed += len(q.list)
	clear(q.list)
	q.list, q.payloads, q.at = q.list[:0], q.payloads[:0], 0
}
