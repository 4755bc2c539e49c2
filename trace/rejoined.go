package trace

import "io"

// readFull fills p. Unlike io.ReadFull it returns the error of r as it is.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// A rejoined is a stream whose head was read already.
type rejoined struct {
	head []byte
	rest io.Reader
}

func (r *rejoined) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.rest.Read(p)
}
