package nettrace

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A block that is damaged costs its events, and no others. The reader trusts the size of a
// block as long as its content fits that size. Otherwise mend looks behind the block and, if
// that is no block, in it. And where no block starts, seek looks for the next one.

// errLonger is for blocks that were cut short to end where another one starts.
var errLonger = layout.Damaged("it is longer than it can be: another block starts in it")

// mend looks whether b, of which something does not fit, is as long as it says. If
// not, and if another block starts in it, mend ends b there, and that block is the
// next to be read. A block is mended once.
func (s *stream) mend(b *block) bool {
	if b.mended { // the reader stands behind it no more
		return false
	}
	b.mended = true
	src, n := &s.src, b.head+len(b.data)
	defer src.release(src.hold())
	src.back(n)
	look, err := src.peek(n + lookAhead)
	b.data = look[b.head:n:n]
	trusted := b.cut == nil && s.blocks.follows(look[n:], err != nil)
	if !trusted {
		start, end := s.blocks.find(look, err != nil)
		if start >= 0 && start <= n && s.mayReread(n-start) {
			src.take(start)
			s.blocks.found(src)
			b.data, b.cut = b.data[:max(end-b.head, 0)], nil
			return true
		}
	}
	src.take(n)
	return false
}

// mayReread bounds how many bytes are read more than once, so that a stream of
// blocks that all claim to be long cannot take the reader quadratic time.
func (s *stream) mayReread(n int) bool {
	s.reread += int64(n)
	return s.reread <= 16<<20+16*s.src.off
}

// seek passes over unreadable bytes, to where a block starts. If there is none it ends the
// stream.
func (s *stream) seek() error {
	window := lookAhead
	if s.v6 {
		window = 64 << 10 // its blocks are recognised by those behind them
	}
	for {
		look, err := s.src.ahead(window)
		start, _ := s.blocks.find(look, err != nil)
		switch {
		case start >= 0:
			s.src.take(start)
			s.blocks.found(&s.src)
			return nil
		case err != nil:
			s.stats.Stopped = s.blocks.ends(look)
			s.src.take(len(look))
			if isEnd(err) {
				return s.stop(nil)
			}
			return s.stop(damage(s.src.off, "start of a block", err))
		}
		s.src.take(len(look) - lookAhead + 1)
	}
}

// resume goes on where no block starts though one should: in the end of the block
// before, which may have been shorter than it said, or behind.
func (s *stream) resume() error {
	const maxBack = 4 << 10
	src := &s.src
	first := src.off > s.tried
	n := max(min(int(min(src.off-s.tried, maxBack)), src.pos), 0)
	s.tried = max(s.tried, src.off) // so that every byte is gone back to once
	src.back(n)
	look, err := src.ahead(n + lookAhead)
	if start, _ := s.blocks.find(look, err != nil); start >= 0 && (start < n || start == n && first) {
		src.take(start)
		s.blocks.found(src)
		return nil
	}
	src.take(n + 1)
	return s.seek()
}

// lose notes a fault inside of a block.
func (s *stream) lose(k layout.Kind, off int64, err error) {
	switch k {
	case layout.KindUnknown:
		s.stats.UnknownBlocks++
	case layout.KindEvents:
		s.stats.Undecodable++
		fallthrough
	default:
		s.stats.DamagedBlocks++
	}
	s.note(damage(off, k.String(), err))
}

// note keeps a damage for the end.
func (s *stream) note(d *etw.Damage) {
	d.File = s.name
	s.stats.Damage.Add(d)
}

// stop ends the stream, because of d if that is not nil.
func (s *stream) stop(d *etw.Damage) error {
	if d != nil {
		s.note(d)
	}
	s.ended = true
	return io.EOF
}
