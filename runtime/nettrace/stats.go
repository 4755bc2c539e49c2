package nettrace

import "github.com/etwgen/etwgen/runtime/etw"

// Stats counts the reading of a [Reader] so far.
type Stats struct {
	Records int64 // delivered
	Bytes   int64 // of the stream

	// Lost is the number of events that the numbers in the stream show to be
	// missing. LostByThread has them by the thread that logged them: its id, or
	// in version 6 its index. The last losses show only at the end. netperf has no
	// such numbers. Of a damaged stream, numbers may be wrong: those count that others
	// agree with, and else no more than the stream has events.
	Lost         int64
	LostByThread map[uint64]int64
	// SequencePoints is the number of points at which losses were checked.
	SequencePoints int64

	// Continued is set if the stream goes on with a recording whose begin is elsewhere: the numbers of
	// threads stand before their first events.
	Continued bool

	// Stopped is set once the end marker was read.
	Stopped bool

	// OutOfOrder counts records with a time stamp before that of an earlier one.
	// In file order they are common. Sorted it is 0, unless the limit was reached
	// or the stream breaks its promises.
	OutOfOrder int64

	// Undecodable counts the events that are there but cannot be read: one in each
	// damaged block of events, since those behind it cannot be told apart. Lost
	// counts them all.
	Undecodable int64

	// UnknownMetadata counts records whose metadata the stream does not contain:
	// they have a header and a payload but no provider. The other counts are of
	// references to stacks, threads and label lists that are not there.
	UnknownMetadata int64
	UnknownStacks   int64
	UnknownThreads  int64
	UnknownLabels   int64

	// BadMetadata counts metadata rows that could not be read, BadFields those
	// of whose events only the name is known.
	BadMetadata int64
	BadFields   int64

	// UnknownBlocks counts blocks of a kind that the format does not have.
	UnknownBlocks int64
	// DamagedBlocks counts blocks with a fault, which were read up to there.
	DamagedBlocks int64
	// Damage lists the parts of the stream that could not be read.
	Damage etw.DamageLog
}
