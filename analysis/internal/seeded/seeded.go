// Package seeded hashes numbers of traces, such as addresses, for tables with open addressing.
// Whoever makes a trace cannot know which of them have the same hash.
package seeded

import (
	"math/bits"
	"math/rand/v2"
)

var seed = [3]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64() | 1}

// Hash returns a hash of two numbers, all bits of which depend on those of both.
func Hash(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^seed[0], b^seed[1])
	hi, lo = bits.Mul64(hi^lo, seed[2])
	return hi ^ lo
}
