package etl

// Stats are what a Reader has counted so far. What concerns whole files is known
// from the start, what concerns records as they are read.
type Stats struct {
	Records int64 // delivered
	Buffers int64 // read so far
	Bytes   int64 // of the records in them, without compression

	// EventsLost and BuffersLost are what the sessions themselves could not
	// record, by their headers.
	EventsLost  int64
	BuffersLost int64

	// MissingBuffers are those that the sessions have written, by their headers,
	// and that the files do not have: the end of a file was cut off, or headers
	// inside are damaged.
	MissingBuffers int64

	Unknown          int64 // records of kinds that are not known, which were skipped
	Undecodable      int64 // records that were cut off or damaged
	TruncatedBuffers int64 // buffers that the end of the file cuts off
	UnreadBytes      int64 // bytes that may have held records, but could not be read
	UnwrittenBytes   int64 // zeros where buffers should be, as in a file that is being written

	// OutOfOrder counts records that were delivered after a later one, because
	// their buffer's order is damaged.
	OutOfOrder int64

	// Damages are the places that could not be read: the first 100 of
	// DamageCount.
	Damages     []*Damage
	DamageCount int
}

// Err returns a *DamageError if something of the trace could not be read, or
// nil.
func (s *Stats) Err() error {
	if s.DamageCount == 0 {
		return nil
	}
	return &DamageError{s.Damages, s.DamageCount}
}
