package nettrace

import (
	"errors"
	"fmt"
	"io"
)

var (
	// ErrNotStopped is returned in place of io.EOF, after the last record, if the
	// stream ends between two blocks without an end marker: whoever recorded it
	// was killed. What the runtime writes at the end of a session is missing.
	ErrNotStopped = errors.New("the trace was not stopped: it has no end marker")

	// ErrTruncated is returned in place of io.EOF, after the last whole record, if
	// the stream ends inside a block.
	ErrTruncated = fmt.Errorf("the trace is cut off: %w", io.ErrUnexpectedEOF)

	// ErrFormat is for streams that are no EventPipe trace.
	ErrFormat = errors.New("not an EventPipe trace")

	// ErrVersion is for versions of the format that the package does not read.
	ErrVersion = errors.New("unsupported version of the format")

	// ErrDamaged is for a stream that contradicts itself. Where the fault is inside
	// of a block, it is returned in place of io.EOF, after all that can be read.
	ErrDamaged = errors.New("damaged trace")

	// ErrSortLimit is returned once if sorting needs more memory than
	// [SortLimit] allows. The reader may be read on; it then delivers its oldest
	// records early, and [Stats].OutOfOrder counts those that came too late.
	ErrSortLimit = errors.New("sorting by time needs more memory than the limit")
)

// An Error says where in the stream something is wrong. It wraps one of the
// errors of this package, or the error of the io.Reader.
type Error struct {
	Offset int64  // from the start of the stream
	What   string // the part of the format that was being read
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("nettrace: offset %d: %s: %v", e.Offset, e.What, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// damaged returns an ErrDamaged that says what is wrong.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
