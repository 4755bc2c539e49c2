package etl

import "github.com/etwgen/etwgen/runtime/etw"

// Stats are the counts of a Reader so far. Counts of whole files are known from the start,
// those of records as they are read.
type Stats struct {
	Records int64 // delivered
	Bytes   int64 // of the buffers' records, without compression
	Buffers int64 // read so far

	// Lost and LostBuffers are the events and buffers that the sessions
	// themselves could not record, by their headers.
	Lost        int64
	LostBuffers int64

	// MissingBuffers are those that the sessions have written, by their headers,
	// and that the files do not have: the end of a file was cut off, or headers
	// inside are damaged.
	MissingBuffers int64

	// OutOfOrder counts records that were delivered after a later one, because
	// their buffer's order is damaged.
	OutOfOrder int64

	Undecodable      int64 // records that were cut off or damaged
	Unknown          int64 // records of kinds that are not known, which were skipped
	TruncatedBuffers int64 // buffers that the end of the file cuts off
	UnreadBytes      int64 // bytes that may have held records, but could not be read
	UnwrittenBytes   int64 // zeros where buffers should be, as in a file that is being written

	// Damage has the parts of the files that could not be read.
	Damage etw.DamageLog
}
