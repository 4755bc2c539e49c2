package nettrace

// An Option changes how a [Reader] reads.
type Option func(*options)

type options struct {
	name        string
	inFileOrder bool
	limit       int64 // bytes
	sequential  bool
}

// WithName gives the stream the name that records and errors show. [Open] names it
// by its path.
func WithName(name string) Option { return func(o *options) { o.name = name } }

// WithFileOrder makes the reader deliver records in the order of the stream, which
// is that of time for the events of one thread only. It is faster, and holds
// little more than one block.
func WithFileOrder() Option { return func(o *options) { o.inFileOrder = true } }

// defaultSortLimit is generous: the end of a session of a large program takes
// some tens of megabytes.
const defaultSortLimit = 256 << 20

// WithSortLimit limits the memory for events held back to be sorted, in bytes, which is 256 MiB otherwise. It is never more
// than 4 MiB and twice the bytes that were read, which only streams of events without content come near to. At the limit
// the oldest records are delivered early. If others then turn out to have been due before them, [Stats].OutOfOrder counts
// these, and [ErrSortLimit] comes after the last record.
func WithSortLimit(bytes int64) Option { return func(o *options) { o.limit = bytes } }

// WithoutReadAhead makes the reader do all its work in the goroutine that calls it. Otherwise
// the events of a stream in memory, which [NewReader] finds in a [bytes.Reader], are
// decoded ahead on other processors, if there are any. The records are the same.
func WithoutReadAhead() Option { return func(o *options) { o.sequential = true } }
