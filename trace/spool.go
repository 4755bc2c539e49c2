package trace

import (
	"errors"
	"io"
	"os"
)

// A spool is a stream in a temporary file, for readers in any order.
type spool struct {
	*os.File
	size    int64
	failed  error // why the stream ended early
	removed bool
}

// newSpool reads r to its end. If r fails, the spool has the bytes before.
func newSpool(r io.Reader) (*spool, error) {
	f, err := os.CreateTemp("", "etw-*.tmp")
	if err != nil {
		return nil, err
	}
	s := &spool{File: f}
	// Where a system lets an open file be removed, nothing stays behind however
	// the program ends.
	s.removed = os.Remove(f.Name()) == nil
	in := &failureReader{r: r}
	s.size, err = io.Copy(f, in)
	if err != nil && in.err == nil {
		return nil, errors.Join(err, s.Close())
	}
	s.failed = in.err
	return s, nil
}

// Close removes the file.
func (s *spool) Close() error {
	err := s.File.Close()
	if !s.removed {
		s.removed = true
		err = errors.Join(err, os.Remove(s.Name()))
	}
	return err
}

// A failureReader remembers why r failed, which tells this from a failure of the writer.
type failureReader struct {
	r   io.Reader
	err error
}

func (f *failureReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
