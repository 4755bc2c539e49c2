package nettrace

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A container splits a stream into blocks.
type container interface {
	// header reads the first block, which has the header of the stream, and sets h. Fatal
	// says that the stream cannot be read, which d explains; otherwise d is a fault that can
	// be done without.
	header(s *source, h *Header) (d *etw.Damage, fatal bool)

	// next reads the next block; kindEnd is the end marker. A block that the stream cuts off
	// comes as far as it goes. Where no block starts, next takes nothing and returns an
	// ErrDamaged.
	next(s *source) (block, *etw.Damage)

	// follows reports whether b looks like the data behind a block. Whole says that b ends
	// where the stream does; otherwise it has lookAhead bytes.
	follows(b []byte, whole bool) bool

	// ends reports whether the end marker is at the end of b.
	ends(b []byte) bool

	// found tells that a block starts at s, where it may not have been when the
	// stream was written.
	found(s *source)

	// find returns the index of the first byte of b at which a block starts, and
	// the index at which one before it would end, or -1. Of the block lookAhead
	// bytes must be in b, unless b is whole.
	find(b []byte, whole bool) (start, end int)

	// clone returns a container that goes on where this one is.
	clone() container
}

// lookAhead is how many bytes tell that a block starts.
const lookAhead = 48

func isEnd(err error) bool {
	return err == io.EOF || err == io.ErrUnexpectedEOF
}

// endOfStream explains an error where a block would start, of which there are n bytes.
func endOfStream(at int64, n int, err error) *etw.Damage {
	switch {
	case !isEnd(err):
		return damage(at, "start of a block", err)
	case n == 0:
		return damage(at, "end of stream", ErrNotStopped)
	}
	return damage(at, "start of a block", ErrTruncated)
}

// takeBlock reads the data of a block. If the stream ends in it, it returns the part that is
// there: whole events before the cut are worth having.
func takeBlock(s *source, k layout.Kind, size int) block {
	b := block{kind: k, off: s.off}
	data, err := s.take(size)
	if isEnd(err) {
		err = ErrTruncated
	}
	b.data, b.cut = data, err
	return b
}
