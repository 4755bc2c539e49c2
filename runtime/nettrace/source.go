package nettrace

import (
	"errors"
	"io"
)

// A source reads a stream front to back through one buffer, which it reuses,
// and knows the offset in the stream. Alignment counts from the first byte of
// the stream.
type source struct {
	r   io.Reader
	buf []byte // of which [pos, end) is read but not taken
	pos int
	end int
	off int64 // of buf[pos] in the stream
	err error // of r, sticky
}

const (
	firstBuffer = 256 << 10
	minRead     = 16 << 10
)

// take returns the next n bytes, which are valid until the next call. The
// buffer grows as the bytes arrive, never to a size that the stream only
// claims. If the stream ends first, take returns what there is and io.EOF for
// none, io.ErrUnexpectedEOF for some.
func (s *source) take(n int) ([]byte, error) {
	if s.end-s.pos < n {
		if err := s.fill(n); err != nil {
			b := s.buf[s.pos:s.end:s.end]
			s.off += int64(len(b))
			s.pos = s.end
			if err == io.EOF && len(b) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return b, err
		}
	}
	b := s.buf[s.pos : s.pos+n : s.pos+n]
	s.pos += n
	s.off += int64(n)
	return b, nil
}

// fill reads until n bytes are in the buffer. It asks for no more than what the
// buffer has room for and stops at the first read that suffices, so it does not
// wait on a live stream for what it does not need.
func (s *source) fill(n int) error {
	if s.pos > 0 {
		copy(s.buf, s.buf[s.pos:s.end])
		s.end -= s.pos
		s.pos = 0
	}
	for empty := 0; s.end < n; {
		if s.err != nil {
			return s.err
		}
		if s.end == len(s.buf) || (n > len(s.buf) && len(s.buf)-s.end < minRead) {
			s.grow(n)
		}
		m, err := s.r.Read(s.buf[s.end:])
		if m < 0 || m > len(s.buf)-s.end {
			return errBadReader
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

// grow doubles the buffer, or makes it just large enough if that is less.
func (s *source) grow(n int) {
	size := max(2*len(s.buf), firstBuffer)
	if size > n && len(s.buf) > 0 {
		size = max(n, len(s.buf)+minRead)
	}
	buf := make([]byte, size)
	copy(buf, s.buf[:s.end])
	s.buf = buf
}

// skip passes over n bytes.
func (s *source) skip(n int64) error {
	for n > 0 {
		if s.pos == s.end {
			if err := s.fill(1); err != nil {
				return err
			}
		}
		m := int(min(n, int64(s.end-s.pos)))
		s.pos += m
		s.off += int64(m)
		n -= int64(m)
	}
	return nil
}

// align passes over up to three bytes, to an offset that is a multiple of 4.
func (s *source) align() error { return s.skip(-s.off & 3) }
