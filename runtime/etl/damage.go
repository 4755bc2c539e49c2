package etl

import (
	"errors"
	"fmt"
	"io"
)

// Faults of a part of a file: the causes of an [etw.Damage], besides errors of the file's
// reader.
var (
	// ErrNotETL says that a file does not begin like an .etl file.
	ErrNotETL = errors.New("not an .etl file")
	// ErrTruncated says that a buffer or record is cut off. It wraps
	// io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	// ErrHeader says that the header of the file or of a buffer makes no sense.
	ErrHeader = errors.New("damaged header")
	// ErrRecord says that there is no record in the place of one.
	ErrRecord = errors.New("damaged record")
	// ErrCompression says that a buffer cannot be decompressed to its end.
	ErrCompression = errors.New("damaged compressed data")
	// ErrMissing says that a file does not have all buffers that the session has
	// written.
	ErrMissing = errors.New("missing buffers")
	// ErrGap says that buffers are missing before others that the file has, and none after
	// them. It wraps ErrMissing.
	ErrGap = fmt.Errorf("%w before the last", ErrMissing)
	// ErrSurplus says that a file has more buffers than the session has written: it
	// is several files in one, or has parts twice.
	ErrSurplus = errors.New("too many buffers")
	// ErrLimit says that a part of a file would take more memory or time than one
	// of its size may.
	ErrLimit = errors.New("beyond the limit")
)
