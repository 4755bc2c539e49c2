package nettrace

import (
	"errors"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A stream is the blocks of a source, one after the other, and how far they were read.
type stream struct {
	src    source
	blocks container
	name   string
	v6     bool
	v3     bool // netperf: its metadata stands among the events
	stats  *Stats

	cur    eventBlock // whose events are being decoded
	tried  int64      // offset up to which no block starts that was not read
	reread int64      // bytes that were read a second time
	ended  bool       // there are no more blocks
}

// begin reads the start of the stream, with its header.
func (s *stream) begin(h *Header) *etw.Damage {
	c, version, minor, d := openContainer(&s.src)
	if c == nil {
		return d
	}
	if d != nil {
		s.note(d)
	}
	s.blocks, s.v6, s.v3 = c, version == 6, version == 3
	h.Version, h.Minor = version, int(minor)
	if d, fatal := c.header(&s.src, h); fatal {
		return d
	} else if d != nil {
		s.note(d)
	}
	return nil
}

// next reads the next block, and ends the one whose events were decoded. Where none
// starts it goes on to the next one, and returns false for now.
func (s *stream) next() (b block, ok bool, err error) {
	if s.ended {
		return b, false, io.EOF
	}
	cut := s.cur.cut
	s.closeEvents()
	if cut != nil {
		return b, false, s.stop(damage(s.src.off, layout.KindEvents.String(), cut))
	}
	b, d := s.blocks.next(&s.src)
	switch {
	case d != nil && errors.Is(d.Err, ErrDamaged):
		s.note(d)
		return b, false, s.resume()
	case d != nil:
		return b, false, s.stop(d)
	case b.kind == layout.KindEnd:
		return b, false, s.end(b)
	}
	s.tried = max(s.tried, b.off)
	if b.cut != nil && b.kind != layout.KindEvents {
		if !s.mend(&b) {
			return b, false, s.stop(damage(s.src.off, b.kind.String(), b.cut))
		}
		s.lose(b.kind, b.off, errLonger)
	}
	return b, true, nil
}

// end ends the stream at its end marker, if that is the end.
func (s *stream) end(b block) error {
	if more, _ := s.src.peek(1); len(more) == 0 {
		s.stats.Stopped = true
		return s.stop(nil)
	}
	s.note(damage(b.off, b.kind.String(), layout.Damaged("bytes follow the end marker")))
	err := s.resume()
	s.stats.Stopped = s.ended
	return err
}

// openEvents makes b the block that is being read.
func (s *stream) openEvents(b block) error {
	s.closeEvents()
	s.cur = eventBlock{block: b, form: netperf, low: 1}
	if !s.v3 {
		if err := s.cur.readHeader(s.v6); err != nil {
			if b.cut != nil {
				return nil
			}
			return err
		}
	}
	s.cur.chunk = s.src.hold()
	return nil
}

// closeEvents ends the block that is being read.
func (s *stream) closeEvents() {
	if s.cur.chunk != nil {
		s.src.release(s.cur.chunk)
	}
	s.cur = eventBlock{}
}
