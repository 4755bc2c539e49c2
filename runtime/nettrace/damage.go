package nettrace

import (
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// The reasons why a stream cannot be opened. They are wrapped in an
// [*etw.Damage], which says where.
var (
	// ErrFormat is for streams that are not EventPipe traces.
	ErrFormat = errors.New("not an EventPipe trace")

	// ErrVersion is for versions of the format that the package does not read.
	ErrVersion = errors.New("unsupported version of the format")
)

// The reasons why a trace is incomplete. After the last record errors.Is finds
// them in the [*etw.IncompleteError] that [Reader.Next] returns.
var (
	// ErrNotStopped is for a stream that ends between two blocks without an end marker:
	// whoever recorded it was killed. The runtime's end of a session is missing.
	ErrNotStopped = errors.New("the trace was not stopped: it has no end marker")

	// ErrTruncated is for a stream that ends inside a block.
	ErrTruncated = fmt.Errorf("the trace is cut off: %w", io.ErrUnexpectedEOF)

	// ErrDamaged is for a stream that contradicts itself.
	ErrDamaged = layout.ErrDamaged
)

// IsBrokenOff reports whether all that is wrong with a stream is that it ends before its end,
// as that of a live process does which has ended itself. Err is the error that [Reader.Next]
// returned.
func IsBrokenOff(err error) bool {
	var all *etw.IncompleteError
	if !errors.As(err, &all) || all.Count > len(all.Damages) {
		return false
	}
	for _, d := range all.Damages {
		if !errors.Is(d.Err, ErrNotStopped) && !errors.Is(d.Err, ErrTruncated) {
			return false
		}
	}
	return true
}

// ErrSortLimit is returned once, after the last record, if some came out of order
// because sorting all of them would have taken more memory than [WithSortLimit]
// allows. No record is missing.
var ErrSortLimit = errors.New("sorting by time needs more memory than the limit")

// damage says that a part of the stream cannot be read. It is not inlined: there are many calls,
// and few are ever made.
//
//go:noinline
func damage(off int64, part string, err error) *etw.Damage {
	return &etw.Damage{Format: "nettrace", Offset: off, Part: part, Err: err}
}
