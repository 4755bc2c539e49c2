package nettrace

// An Origin has the facts of a stream's record for which an [etw.Record] has no room.
type Origin struct {
	MetadataID uint32
	// CaptureThread is the thread that logged the event, where ThreadID of the
	// record is the one that it is about: an id, or in version 6 an index.
	CaptureThread uint64
	// Sequence numbers the events of the capture thread.
	Sequence uint32
	// SortPoint is set if no later event of the stream is older.
	SortPoint bool
	// Thread is the row of the thread table, in version 6, and Capture that of the
	// thread that logged the event, or nil.
	Thread, Capture *Thread
	// Metadata is the stream's description of this kind of events, or nil.
	Metadata *Metadata
}

// Origin tells more of the record that Next returned last.
func (r *Reader) Origin() Origin {
	if r.batch == nil || r.at == 0 {
		return Origin{}
	}
	e := &r.events[r.at-1]
	c := &r.batch.contexts[e.context&^sortPoint]
	o := Origin{MetadataID: e.metadata, CaptureThread: c.capture, SortPoint: e.context&sortPoint != 0}
	o.Metadata, _ = r.known.rows.get(uint64(e.metadata))
	if r.header.Version != 3 {
		o.Sequence = c.sequence + uint32(r.at-1) - c.first
	}
	if r.known.v6 {
		o.Capture = r.known.threads.get(c.capture)
		if o.Thread = r.known.threads.get(e.thread); o.Thread == nil {
			o.Thread = &Thread{Index: e.thread, ProcessID: r.header.ProcessID, ThreadID: -1}
		}
	}
	return o
}
