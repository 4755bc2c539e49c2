package etw

import "math"

// Limits of a payload's requests. The two decoders share these limits, but each checks them
// by itself.
const (
	// maxPayload is the most that is read of a payload.
	maxPayload = math.MaxInt32 - 16
	// maxEmpty is the greatest number of elements without a byte that an array may
	// have, so that a few bytes cannot ask for billions of empty strings.
	maxEmpty = 1024
	// maxNesting bounds how deep structs may lie in each other.
	maxNesting = 32
	// maxSize bounds the sizes that are computed from descriptions, so that they do
	// not overflow. No payload has so many bytes.
	maxSize = 1 << 18
)
