package nettrace

// An Option changes how a [Reader] reads.
type Option func(*options)

type options struct {
	sorted bool
	limit  int64 // bytes
}

// Sorted makes the reader deliver records in the order of their time stamps.
// The order in a stream is that of time for the events of one thread only. The
// reader holds back the blocks that are not yet due: those between two sort
// points, which is usually the work of a tenth of a second, and at the end of a
// session everything that the runtime writes about its methods. See [SortLimit].
func Sorted() Option { return func(o *options) { o.sorted = true } }

// defaultSortLimit is generous: the end of a session of a large program takes
// some tens of megabytes.
const defaultSortLimit = 256 << 20

// SortLimit is [Sorted] with a limit for the bytes of blocks that are held back,
// which is 256 MiB otherwise. At the limit [Reader.Next] returns [ErrSortLimit]
// once. Reading on delivers the oldest records, so that the limit holds; records
// that then turn out to have been due earlier are delivered late and counted.
func SortLimit(bytes int64) Option {
	return func(o *options) { o.sorted, o.limit = true, bytes }
}
