package linux

import "github.com/etwgen/etwgen/runtime/etw"

// A queue holds records between the kernel, which gives many at once, and Next.
type queue struct {
	list     []queued
	at       int // the next one
	payloads []byte
}

// A queued is a record that is yet to be delivered.
type queued struct {
	desc      *etw.EventDesc
	time      int64
	pid, tid  int32
	processor int32
	from, to  int    // of payloads
	stack     []byte // addresses
}

// next sets r to the next record, and reports whether there is one.
func (q *queue) next(r *etw.Record, clock *etw.Clock) bool {
	if q.at == len(q.list) {
		q.clear()
		return false
	}
	e := &q.list[q.at]
	q.at++
	*r = etw.Record{
		Provider: e.desc.Provider.GUID, ProviderName: e.desc.Provider.Name, ID: e.desc.ID, Schema: e.desc,
		PointerSize: etw.Ptr64, Processor: e.processor, ProcessID: int64(e.pid), ThreadID: int64(e.tid),
		Timestamp: e.time, Clock: clock, Payload: q.payloads[e.from:e.to:e.to], Stack: etw.Stack{Addresses: e.stack, PtrSize: etw.Ptr64},
	}
	return true
}

// clear forgets what was delivered.
func (q *queue) clear() {
	clear(q.list)
	q.list, q.payloads, q.at = q.list[:0], q.payloads[:0], 0
}
