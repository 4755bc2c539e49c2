// Package xca implements the three compression algorithms that Windows
// documents as MS-XCA: plain LZ77 (XPRESS), LZ77 with Huffman codes (XPRESS
// Huffman) and LZNT1.
//
// The decoders are made for the buffers of trace files. The caller knows how
// long the output is and gives a destination of that length. A decoder reads
// any input without panicking, never writes past the destination, and says how
// much of it is good when the input is not. The encoders are simple: they serve
// tests and small fixtures.
package xca

import "errors"

var (
	// ErrCorrupt means that the input is no output of the algorithm.
	ErrCorrupt = errors.New("corrupt compressed data")
	// ErrShort means that the input ended before the destination was full.
	ErrShort = errors.New("compressed data ends early")
)

// copyMatch copies length bytes to dst[at:] from dist bytes before, where the two may
// overlap: output is read again. The caller has checked that dist is at most at, and that
// the destination has room.
func copyMatch(dst []byte, at, dist, length int) {
	end := at + length
	if dist == 1 {
		// A run of one byte, the most common overlap by far.
		fill(dst[at:end], dst[at-1])
		return
	}
	// Each round doubles the stretch that repeats, so that the copies do not
	// overlap.
	from := at - dist
	for at < end {
		at += copy(dst[at:end], dst[from:at])
	}
}

func fill(dst []byte, b byte) {
	for i := range dst {
		dst[i] = b
	}
}
