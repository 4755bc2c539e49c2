package xca

import (
	"encoding/binary"
	"math/bits"
)

// LZNT1 cuts the data into chunks of 4096 bytes. A chunk begins with 16 bits: the size of
// the data, less 1, in the low 12, and at the top whether it is compressed. In a compressed
// chunk a byte of flags, from the lowest bit up, announces 8 tokens: 0 a literal byte, 1 a
// match of 16 bits, whose distance-1 is above and whose length-3 is below. How many bits the
// length has depends on where in the chunk the match stands, since distances do not leave
// the chunk.

const lznt1Chunk = 4096

// DecodeLZNT1 decodes LZNT1 from src until dst is full, and returns the number
// of bytes written. It is less than len(dst) only with an error.
func DecodeLZNT1(dst, src []byte) (int, error) {
	out := 0
	for out < len(dst) {
		if len(src) < 2 {
			return out, ErrShort
		}
		header := binary.LittleEndian.Uint16(src)
		src = src[2:]
		if header == 0 {
			return out, ErrShort
		}
		data := src[:min(int(header&0xfff)+1, len(src))]
		cut := len(data) < int(header&0xfff)+1
		src = src[len(data):]

		chunk := dst[out:min(out+lznt1Chunk, len(dst))]
		var n int
		var err error
		if header&0x8000 != 0 {
			n, err = decodeLZNT1Chunk(chunk, data)
		} else {
			n = copy(chunk, data)
		}
		out += n
		switch {
		case err != nil:
			return out, err
		case out == len(dst):
			return out, nil
		case cut:
			return out, ErrShort
		case n < lznt1Chunk:
			// Only the last chunk of a stream is shorter. The system pads it with
			// zeros where more follows, so that chunks stay in their places.
			if len(src) < 2 || binary.LittleEndian.Uint16(src) == 0 {
				return out, ErrShort
			}
			clear(dst[out:min(out+lznt1Chunk-n, len(dst))])
			out = min(out+lznt1Chunk-n, len(dst))
		}
	}
	return out, nil
}

// decodeLZNT1Chunk decodes the data of one compressed chunk. It stops where
// either side ends.
func decodeLZNT1Chunk(dst, src []byte) (int, error) {
	in, out := 0, 0
	for in < len(src) {
		flags := src[in]
		in++
		for range 8 {
			if in >= len(src) || out >= len(dst) {
				return out, nil
			}
			match := flags&1 != 0
			flags >>= 1
			if !match {
				dst[out] = src[in]
				in++
				out++
				continue
			}
			if len(src)-in < 2 {
				return out, ErrShort
			}
			token := int(binary.LittleEndian.Uint16(src[in:]))
			in += 2
			lengthBits := lznt1LengthBits(out)
			dist := token>>lengthBits + 1
			length := token&(1<<lengthBits-1) + 3
			if dist > out {
				return out, ErrCorrupt
			}
			length = min(length, len(dst)-out)
			copyMatch(dst, out, dist, length)
			out += length
		}
	}
	return out, nil
}

// lznt1LengthBits returns how many bits of a match at position at of its chunk
// are the length: 12 up to position 16, and one less for each doubling.
func lznt1LengthBits(at int) int {
	if at <= 16 {
		return 12
	}
	return 12 - (bits.Len(uint(at-1)) - 4)
}
