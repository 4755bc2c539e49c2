package xca

import (
	"encoding/binary"
	"math/bits"
)

// A plain LZ77 stream is a row of 32-bit flag words, each followed by the 32
// tokens that its bits, from the highest down, announce: 0 a literal byte, 1 a
// match. A match is 16 bits, distance-1 above and length-3 in the low 3 bits;
// a length of 7 or more goes on in a nibble, then in a byte, then in 16 or 32
// bits. Two nibbles share a byte: the second one is found in the byte that the
// first one was read from, wherever the stream has got to meanwhile.

// A round of the fast loop of DecodePlain looks at these many bytes on both sides: of the
// input a run of literals, or fewer than fewLiterals of them, the token and one byte of its
// length, or a flag word; of the output what is written in any case. A longer length needs up
// to 7 bytes more.
const (
	fewLiterals      = 8
	shortMatch       = 32
	plainInputWindow = 16
	plainInputSlack  = 32 + plainInputWindow
	plainOutputSlack = fewLiterals + shortMatch
)

// leading is how many flags of the 8 in a byte come before the first match.
var leading = func() (t [256]uint8) {
	for i := range t {
		t[i] = uint8(bits.LeadingZeros8(uint8(i)))
	}
	return t
}()

// DecodePlain decodes plain LZ77 from src until dst is full, and returns the
// number of bytes written. It is less than len(dst) only with an error.
func DecodePlain(dst, src []byte) (int, error) {
	d := plainDecoder{dst: dst, src: src, flags: noFlags}
	if err := d.fast(); err != nil {
		return d.out, err
	}
	err := d.careful()
	return d.out, err
}

// noFlags is a flag word that is used up: only its end mark is left.
const noFlags = 1 << 63

type plainDecoder struct {
	dst, src []byte
	in, out  int
	// flags holds the unused flags at the top, and a 1 below them that marks
	// their end.
	flags uint64
	// nibble is the next length nibble, with a bit above it, if the last one left
	// one.
	nibble uint8
}

// fast decodes while there is room on both sides for any token, so that it needs few checks
// and can copy in blocks that reach past their end. It costs branches that no processor can
// predict: it is quicker to copy too much than to ask. Slices with a bound of their own and
// arrays spare the reckoning of what is left of the larger ones.
func (d *plainDecoder) fast() error {
	dst, src := d.dst[:len(d.dst):len(d.dst)], d.src[:len(d.src):len(d.src)]
	in, out, flags, nibble := d.in, d.out, d.flags, uint(d.nibble)
	lastIn, lastOut := len(src)-plainInputSlack, len(dst)-plainOutputSlack

	for in <= lastIn && out <= lastOut {
		literals := int(leading[flags>>56])
		if literals >= fewLiterals {
			literals = bits.LeadingZeros64(flags)
			copy(dst[out:out+32], src[in:in+32])
			in, out, flags = in+literals, out+literals, flags<<uint(literals)
			continue
		}
		s := (*[plainInputWindow]byte)(src[in : in+plainInputWindow : in+plainInputWindow])
		w := (*[plainOutputSlack]byte)(dst[out : out+plainOutputSlack : out+plainOutputSlack])
		copy8(w[:fewLiterals], s[:fewLiterals])
		out, flags = out+literals, flags<<uint(literals+1)
		if flags == 0 { // it was the end mark
			flags = uint64(binary.LittleEndian.Uint32(src[in+literals:]))<<32 | 1<<31
			in += literals + 4
			continue
		}
		token := uint(s[literals]) | uint(s[literals+1])<<8
		dist := int(token>>3) + 1
		if dist > out {
			d.out = out
			return ErrCorrupt
		}
		// A long length goes on in the nibble that is left, or in one of the next byte,
		// which leaves another. One match in three is long, in no order, so that all of
		// it is reckoned without a branch.
		long := (token&7 + 1) >> 3
		left := nibble >> 4
		fresh := uint(s[literals+2])
		n := fresh&0xf&(left-1) | nibble&0xf&-left
		next := (fresh>>4 | 0x10) & (left - 1)
		in += literals + 2 + int(long&^left)
		nibble ^= (nibble ^ next) & -long
		length := int(token&7 + 3 + n&-long)
		if length == 7+3+15 {
			var err error
			if length, in, err = longerLength(src, in); err != nil {
				d.out = out
				return err
			}
		}
		from := out - dist
		if dist >= 8 && length <= shortMatch {
			to, match := w[literals:literals+shortMatch], dst[from:from+shortMatch:from+shortMatch]
			copy8(to, match)
			copy8(to[8:], match[8:])
			if length > 16 {
				copy8(to[16:], match[16:])
				copy8(to[24:], match[24:])
			}
			out += length
			continue
		}
		if length > len(dst)-out {
			copyMatch(dst, out, dist, len(dst)-out)
			d.out = len(dst)
			return ErrCorrupt
		}
		copyMatch(dst, out, dist, length)
		out += length
	}
	d.in, d.out, d.flags, d.nibble = in, out, flags, uint8(nibble)
	return nil
}

// copy8 copies 8 bytes.
func copy8(dst, src []byte) {
	binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(src))
}

// careful decodes token by token, checking everything.
func (d *plainDecoder) careful() error {
	for d.out < len(d.dst) {
		if d.flags == noFlags {
			if len(d.src)-d.in < 4 {
				return ErrShort
			}
			d.flags = uint64(binary.LittleEndian.Uint32(d.src[d.in:]))<<32 | 1<<31
			d.in += 4
		}
		match := d.flags>>63 != 0
		d.flags <<= 1
		if !match {
			if d.in >= len(d.src) {
				return ErrShort
			}
			d.dst[d.out] = d.src[d.in]
			d.in++
			d.out++
			continue
		}
		if len(d.src)-d.in < 2 {
			return ErrShort
		}
		token := int(binary.LittleEndian.Uint16(d.src[d.in:]))
		d.in += 2
		dist, length := token>>3+1, token&7+3
		if length == 7+3 {
			var err error
			if length, err = d.longLength(); err != nil {
				return err
			}
		}
		if dist > d.out {
			return ErrCorrupt
		}
		room := len(d.dst) - d.out
		copyMatch(d.dst, d.out, dist, min(length, room))
		if length > room {
			d.out = len(d.dst)
			return ErrCorrupt
		}
		d.out += length
	}
	return nil
}

// longLength reads the rest of a length whose first three bits are all set.
func (d *plainDecoder) longLength() (length int, err error) {
	n := d.nibble & 0xf
	if d.nibble == 0 {
		if d.in >= len(d.src) {
			return 0, ErrShort
		}
		n, d.nibble = d.src[d.in]&0xf, d.src[d.in]>>4|0x10
		d.in++
	} else {
		d.nibble = 0
	}
	if n < 15 {
		return int(n) + 7 + 3, nil
	}
	length, d.in, err = longerLength(d.src, d.in)
	return length, err
}

// longerLength reads the rest of a length whose nibble has all bits set, too.
func longerLength(src []byte, in int) (length, next int, err error) {
	if in >= len(src) {
		return 0, in, ErrShort
	}
	n := int(src[in])
	in++
	if n < 255 {
		return n + 15 + 7 + 3, in, nil
	}
	if n, in, err = wideLength(src, in); err != nil {
		return 0, in, err
	}
	if n < 15+7 {
		return 0, in, ErrCorrupt
	}
	return n + 3, in, nil
}

// wideLength reads a length less 3 as 16 bits, or where those are 0 as 32 more. A length
// beyond any destination is cut to it, so that the sum cannot overflow.
func wideLength(src []byte, in int) (length, next int, err error) {
	if len(src)-in < 2 {
		return 0, in, ErrShort
	}
	n := uint32(binary.LittleEndian.Uint16(src[in:]))
	in += 2
	if n == 0 {
		if len(src)-in < 4 {
			return 0, in, ErrShort
		}
		n = binary.LittleEndian.Uint32(src[in:])
		in += 4
	}
	return int(min(n, 1<<30)), in, nil
}
