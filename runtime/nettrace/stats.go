package nettrace

// Stats counts what a [Reader] has read.
type Stats struct {
	Bytes  int64 // of the stream
	Events int64 // delivered as records

	// Lost is the number of events that the numbers in the stream show to be
	// missing. LostByThread has them by the thread that logged them: its id, or
	// in version 6 its index. The last losses show only at the end. netperf has no
	// such numbers.
	Lost         uint64
	LostByThread map[uint64]uint64
	// SequencePoints is the number of points at which losses were checked.
	SequencePoints int64

	// Stopped is set once the end marker was read.
	Stopped bool

	// OutOfOrder counts records with a time stamp before that of an earlier one.
	// In file order they are common. Sorted it is 0, unless the limit was reached
	// or the stream breaks its promises.
	OutOfOrder int64

	// UnknownMetadata counts records whose metadata the stream does not contain:
	// they have a header and a payload but no provider. The other counts are of
	// references to stacks, threads and label lists that are not there.
	UnknownMetadata int64
	UnknownStacks   int64
	UnknownThreads  int64
	UnknownLabels   int64

	// DamagedBlocks counts blocks with a fault, which were read up to there. What
	// is lost with an event block, Lost counts too.
	DamagedBlocks int64

	// BadMetadata counts metadata rows that could not be read, BadFields those
	// of whose events only the name is known.
	BadMetadata int64
	BadFields   int64
}

// An Origin is what a stream says of a record and a [etw.Record] has no room
// for.
type Origin struct {
	MetadataID uint32
	// CaptureThread is the thread that logged the event, where ThreadID of the
	// record is the one that it is about: an id, or in version 6 an index.
	CaptureThread uint64
	// Sequence numbers the events of the capture thread.
	Sequence uint32
	// SortPoint is set if no later event of the stream is older.
	SortPoint bool
	// Thread is the row of the thread table, in version 6.
	Thread *Thread
}

// Origin tells more of the record that Next returned last.
func (r *Reader) Origin() Origin {
	b := r.last
	if b == nil {
		return Origin{}
	}
	return Origin{b.h.metadata, b.h.capture, b.h.sequence, b.h.sortPoint, b.thread}
}
