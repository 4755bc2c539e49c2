package trace

import (
	"context"
	"fmt"
	"io"
)

// Without a limit of the user's a file may unpack to a multiple of its size, and
// to a certain size in any case. Traces with little in them compress well: a
// preallocated .etl file is nearly all zeros. But no real one needs the thousand
// times that deflate can do.
const (
	unpackRatio = 250
	unpackFree  = 256 << 20
	unpackMost  = 64 << 30
)

// An allowance is how much a compressed file may still unpack to. The members of
// an archive share one.
type allowance struct {
	limit    int64    // of the user, or 0
	packed   *counter // what was read of the file, or
	size     int64    // its size
	unpacked int64
}

func (a *allowance) most() int64 {
	if a.limit > 0 {
		return a.limit
	}
	packed := a.size
	if a.packed != nil {
		packed = a.packed.n
	}
	return min(max(packed, 0)*unpackRatio+unpackFree, unpackMost)
}

// An unpacker reads an unpacked file, within its allowance.
type unpacker struct {
	r io.Reader
	*allowance
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.unpacked += int64(n)
	if most := u.most(); u.unpacked > most {
		// The part past the limit is held back, so that the limit is exact.
		n = max(0, n-int(u.unpacked-most))
		u.unpacked = most
		return n, fmt.Errorf("%w of %d bytes", ErrUnpack, most)
	}
	return n, err
}

// A counter counts the bytes that are read through it, until ctx is done.
type counter struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (c *counter) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
