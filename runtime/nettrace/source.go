package nettrace

import (
	"bytes"
	"errors"
	"io"
)

// A source reads a stream front to back, and knows the offset in it. Alignment
// counts from the first byte of the stream.
//
// The results are views: of the memory that a bytes.Reader has anyway, or of chunks that are
// read ahead. Who needs a view for longer than to the next call holds its chunk.
type source struct {
	r    io.Reader // nil if the stream is in memory
	in   *chunk    // of which [pos, end) is read but not taken
	pos  int
	end  int
	off  int64 // of pos in the stream
	skew int64 // what off must be moved by to align
	err  error // of r, sticky
	free []*chunk
}

// A chunk is a part of the stream in memory.
type chunk struct {
	buf   []byte
	holds int
	owned bool // by the source, which may read into it again
}

const (
	firstBuffer = 256 << 10
	minRead     = 16 << 10
)

func newSource(r io.Reader) source {
	if b, ok := r.(*bytes.Reader); ok {
		var m grip
		b.WriteTo(&m)
		return source{in: &chunk{buf: m}, end: len(m), err: io.EOF}
	}
	return source{r: r, in: &chunk{owned: true}}
}

// A grip takes the output of a bytes.Reader, which is all it has in one call, without
// copying it.
type grip []byte

func (m *grip) Write(b []byte) (int, error) {
	*m = b[:len(b):len(b)]
	return len(b), nil
}

// take returns the next n bytes. The buffer grows as the bytes arrive, never to a size that
// the stream only claims. If the stream ends first, take returns the rest and io.EOF for
// none, io.ErrUnexpectedEOF for some.
func (s *source) take(n int) ([]byte, error) {
	b, err := s.peek(n)
	s.pos += len(b)
	s.off += int64(len(b))
	if err == io.EOF && len(b) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// peek returns the next n bytes without taking them, or the rest and the error instead of
// more.
func (s *source) peek(n int) ([]byte, error) {
	if s.end-s.pos < n {
		if err := s.fill(n); err != nil {
			return s.in.buf[s.pos:s.end:s.end], err
		}
	}
	return s.in.buf[s.pos : s.pos+n : s.pos+n], nil
}

// ahead returns the next n bytes, and the others that are there already. With the last bytes
// comes the error that says why there are no more.
func (s *source) ahead(n int) ([]byte, error) {
	s.peek(n)
	return s.in.buf[s.pos:s.end:s.end], s.err
}

// back returns to bytes that were taken last, and are still in the chunk.
func (s *source) back(n int) {
	s.pos -= n
	s.off -= int64(n)
}

// fill reads until n bytes are there. It asks for no more than there is room for and stops
// at the first read that suffices, so it does not wait on a live stream for bytes that it
// does not need.
func (s *source) fill(n int) error {
	for empty := 0; s.end-s.pos < n; {
		if s.err != nil {
			return s.err
		}
		s.makeRoom(n)
		room := s.in.buf[s.end:]
		m, err := s.r.Read(room)
		if m < 0 || m > len(room) {
			s.err = errBadReader
			return s.err
		}
		s.end += m
		s.err = err
		if m > 0 {
			empty = 0
		} else if empty++; empty > 100 && err == nil {
			s.err = io.ErrNoProgress
		}
	}
	return nil
}

var errBadReader = errors.New("nettrace: the io.Reader returned an impossible count")

// makeRoom makes room for n bytes from pos on, or for some of them. A chunk that somebody
// holds stays where it is.
func (s *source) makeRoom(n int) {
	c, rest := s.in, s.end-s.pos
	switch {
	case s.end < len(c.buf) && (s.pos == 0 || s.pos+n <= len(c.buf)):
		return
	case c.holds == 0 && s.pos > 0 && n <= len(c.buf):
		copy(c.buf, c.buf[s.pos:s.end])
	default:
		next := s.chunk(rest, n)
		copy(next.buf, c.buf[s.pos:s.end])
		s.in = next
		s.recycle(c)
	}
	s.pos, s.end = 0, rest
}

// chunk returns a chunk for the rest bytes that are there, and for more: up to n,
// but at most for twice as many.
func (s *source) chunk(rest, n int) *chunk {
	size := max(min(n, 2*rest+minRead), firstBuffer)
	for i, c := range s.free {
		if len(c.buf) >= size {
			last := len(s.free) - 1
			s.free[i] = s.free[last]
			s.free = s.free[:last]
			return c
		}
	}
	return &chunk{buf: make([]byte, size), owned: true}
}

// maxFree is how many chunks are kept for reuse.
const maxFree = 8

// stable reports whether views are valid for ever.
func (s *source) stable() bool { return !s.in.owned }

// hold returns the chunk of the bytes taken last, which stays until it is released.
func (s *source) hold() *chunk {
	s.in.holds++
	return s.in
}

// release gives up a hold of c.
func (s *source) release(c *chunk) {
	c.holds--
	s.recycle(c)
}

// recycle keeps a chunk that nobody needs.
func (s *source) recycle(c *chunk) {
	if c.holds == 0 && c != s.in && c.owned && len(c.buf) == firstBuffer && len(s.free) < maxFree {
		s.free = append(s.free, c)
	}
}

// align passes over up to three bytes, to an offset that is a multiple of 4, or
// was when the stream was written.
func (s *source) align() error {
	_, err := s.take(int(-(s.off + s.skew) & 3))
	return err
}
