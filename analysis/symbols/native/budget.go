package native

import "errors"

// A budget is how many bytes of a file may still be looked at. Parts of a file can share
// bytes, and so be many times the file.
type budget int64

// budgetOf returns that of a file of a size, which is some times the size of any compiler's
// output.
func budgetOf(size int64) budget {
	const times, least = 8, 1 << 20
	return budget(times*size + least)
}

var errShared = errors.New("native: its parts share bytes, and are many times its size together")

// take takes n bytes.
func (b *budget) take(n uint64) error {
	if n > uint64(max(*b, 0)) {
		*b = 0
		return errShared
	}
	*b -= budget(n)
	return nil
}
