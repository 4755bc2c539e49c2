package nettrace

import (
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A block that is damaged costs what it holds, and no other. The reader trusts the
// size of a block as long as its content fits that size. Otherwise mend looks what
// stands behind the block and, if that is no block, in it. And where no block
// starts, seek looks for the next one.

// errLonger is for blocks that were cut short to end where another one starts.
var errLonger = layout.Damaged("it is longer than it can be: another block starts in it")

// mend looks whether b, of which something does not fit, is as long as it says. If
// not, and if another block starts in it, mend ends b there, and that block is the
// next to be read. A block is mended once.
func (r *Reader) mend(b *block) bool {
	if b.mended { // the reader stands behind it no more
		return false
	}
	b.mended = true
	s, n := &r.src, b.head+len(b.data)
	defer s.release(s.hold())
	s.back(n)
	look, err := s.peek(n + lookAhead)
	trusted := b.cut == nil && r.blocks.follows(look[n:], err != nil)
	if !trusted {
		start, end := r.blocks.find(look, err != nil)
		if start >= 0 && start <= n && r.mayReread(n-start) {
			s.take(start)
			r.blocks.found(s)
			b.data, b.cut = b.data[:max(end-b.head, 0)], nil
			return true
		}
	}
	s.take(n)
	return false
}

// mayReread bounds how many bytes are read more than once, so that a stream of
// blocks that all claim to be long cannot take the reader quadratic time.
func (r *Reader) mayReread(n int) bool {
	r.reread += int64(n)
	return r.reread <= 16<<20+16*r.src.off
}

// seek passes over what cannot be read, to where a block starts. If there is none
// it ends the stream.
func (r *Reader) seek() error {
	window := lookAhead
	if r.v6 {
		window = 64 << 10 // its blocks are recognised by those behind them
	}
	for {
		look, err := r.src.ahead(window)
		start, _ := r.blocks.find(look, err != nil)
		switch {
		case start >= 0:
			r.src.take(start)
			r.blocks.found(&r.src)
			return nil
		case err != nil:
			r.stats.Stopped = r.blocks.ends(look)
			r.src.take(len(look))
			if isEnd(err) {
				return r.stop(nil)
			}
			return r.stop(damage(r.src.off, "start of a block", err))
		}
		r.src.take(len(look) - lookAhead + 1)
	}
}

// resume goes on where no block starts though one should: in the end of the block
// before, which may have been shorter than it said, or behind.
func (r *Reader) resume() error {
	const maxBack = 4 << 10
	s := &r.src
	first := s.off > r.tried
	n := max(min(int(min(s.off-r.tried, maxBack)), s.pos), 0)
	r.tried = max(r.tried, s.off) // so that every byte is gone back to once
	s.back(n)
	look, err := s.ahead(n + lookAhead)
	if start, _ := r.blocks.find(look, err != nil); start >= 0 && (start < n || start == n && first) {
		s.take(start)
		r.blocks.found(s)
		return nil
	}
	s.take(n + 1)
	return r.seek()
}

// lose notes a fault inside of a block.
func (r *Reader) lose(k layout.Kind, off int64, err error) {
	switch k {
	case layout.KindUnknown:
		r.stats.UnknownBlocks++
	case layout.KindEvents:
		r.stats.Undecodable++
		fallthrough
	default:
		r.stats.DamagedBlocks++
	}
	r.note(damage(off, k.String(), err))
}

// note keeps a damage for the end.
func (r *Reader) note(d *etw.Damage) {
	d.File = r.name
	r.stats.Damage.Add(d)
}

// stop ends the stream, because of d if that is not nil.
func (r *Reader) stop(d *etw.Damage) error {
	if d != nil {
		r.note(d)
	}
	r.ended = true
	return io.EOF
}
