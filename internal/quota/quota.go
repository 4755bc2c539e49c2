// Package quota bounds how much a reader takes out of a file whose parts can share bytes.
package quota

import "errors"

// A Quota is how many bytes of a file may still be looked at. Parts of a file can share
// bytes, and so be many times the file.
type Quota int64

// Of returns that of a file of a size, which is some times the size of any compiler's
// output.
func Of(size int64) Quota {
	const times, least = 8, 1 << 20
	return Quota(times*size + least)
}

// ErrShared says that there is no more.
var ErrShared = errors.New("its parts share bytes, and are many times its size together")

// Take takes n bytes.
func (q *Quota) Take(n uint64) error {
	if n > uint64(max(*q, 0)) {
		*q = 0
		return ErrShared
	}
	*q -= Quota(n)
	return nil
}
