package xca

import "encoding/binary"

// LZ77 with Huffman codes cuts the data into chunks of 64 KiB of output. Each
// begins with the lengths of the codes of 512 symbols, 4 bits each, and goes on
// with codes and the extra bits of matches. Symbols below 256 are literals;
// the others hold the number of bits of the distance and the length of a match.
// Bits come in 16-bit words from the highest bit down; the bytes of long
// lengths lie between those words, where the reader of words has got to, which
// is up to two words ahead of the bits in use.

const (
	huffmanChunk   = 65536
	huffmanSymbols = 512
	huffmanTable   = huffmanSymbols / 2
	huffmanMaxBits = 15
)

// A HuffmanDecoder holds the table of codes of XPRESS Huffman, so that it need
// not be made for each buffer.
type HuffmanDecoder struct {
	// codes maps the next 15 bits to symbol<<4 | length of its code, where 0 is
	// not a code.
	codes [1 << huffmanMaxBits]uint16
}

// Decode decodes LZ77 with Huffman codes from src until dst is full, and
// returns the number of bytes written. It is less than len(dst) only with an
// error.
func (d *HuffmanDecoder) Decode(dst, src []byte) (int, error) {
	in, out := 0, 0
	for out < len(dst) {
		if len(src)-in < huffmanTable+4 {
			return out, ErrShort
		}
		if !d.build(src[in : in+huffmanTable]) {
			return out, ErrCorrupt
		}
		in += huffmanTable
		end := min(out+huffmanChunk, len(dst))
		var err error
		if in, out, err = d.chunk(dst, src, in, out, end); err != nil {
			return out, err
		}
	}
	return out, nil
}

// build makes the table of canonical codes from their lengths: shorter codes
// come first, and among equals lower symbols. It reports whether the lengths
// describe a code.
func (d *HuffmanDecoder) build(lengths []byte) bool {
	at := 0
	for length := 1; length <= huffmanMaxBits; length++ {
		step := 1 << (huffmanMaxBits - length)
		for i, pair := range lengths {
			for half, n := range [2]byte{pair & 0xf, pair >> 4} {
				if int(n) != length {
					continue
				}
				if at+step > len(d.codes) {
					return false
				}
				entry := uint16(2*i+half)<<4 | uint16(length)
				for j := at; j < at+step; j++ {
					d.codes[j] = entry
				}
				at += step
			}
		}
	}
	clear(d.codes[at:])
	return at > 0
}

// bitReader reads bits from 16-bit words. It holds 16 to 32 of them; past the
// end of the input it reads zeros and counts them.
type bitReader struct {
	src  []byte
	in   int
	bits uint32 // the unread bits, at the top
	// extra is how many of the unread bits are beyond the first 16.
	extra int
	// past counts the words read beyond the end of the input.
	past int
}

func (b *bitReader) word() uint32 {
	if len(b.src)-b.in < 2 {
		b.in = len(b.src)
		b.past++
		return 0
	}
	w := uint32(binary.LittleEndian.Uint16(b.src[b.in:]))
	b.in += 2
	return w
}

func (b *bitReader) skip(n int) {
	b.bits <<= uint(n)
	b.extra -= n
	if b.extra < 0 {
		b.bits |= b.word() << uint(-b.extra)
		b.extra += 16
	}
}

// spent reports whether bits beyond the end of the input have been used.
func (b *bitReader) spent() bool { return b.past > 0 && b.extra+16 < 16*b.past }

// chunk decodes one chunk. A match may run past its end: the next chunk then
// begins where the match ended.
func (d *HuffmanDecoder) chunk(dst, src []byte, in, out, end int) (int, int, error) {
	b := bitReader{src: src, in: in}
	b.bits = b.word()<<16 | b.word()
	b.extra = 16
	for out < end {
		code := d.codes[b.bits>>(32-huffmanMaxBits)]
		b.skip(int(code & 0xf))
		switch {
		case b.spent(), code == 0 && b.past > 0:
			return b.in, out, ErrShort
		case code == 0:
			return b.in, out, ErrCorrupt
		}
		symbol := int(code >> 4)
		if symbol < 256 {
			dst[out] = byte(symbol)
			out++
			continue
		}
		distBits, length := (symbol-256)>>4, symbol&0xf
		if length == 15 {
			if b.in >= len(src) {
				return b.in, out, ErrShort
			}
			length += int(src[b.in])
			b.in++
			if length == 15+255 {
				var err error
				if length, b.in, err = wideLength(src, b.in); err != nil {
					return b.in, out, err
				}
				if length < 15 {
					return b.in, out, ErrCorrupt
				}
			}
		}
		length += 3
		dist := 1<<uint(distBits) | int(b.bits>>1>>uint(31-distBits))
		b.skip(distBits)
		if b.spent() {
			return b.in, out, ErrShort
		}
		if dist > out {
			return b.in, out, ErrCorrupt
		}
		room := len(dst) - out
		copyMatch(dst, out, dist, min(length, room))
		if length > room {
			return b.in, len(dst), ErrCorrupt
		}
		out += length
	}
	return b.in, out, nil
}
