package xz

import "encoding/binary"

// A probability is that of a bit being 0, in parts of 2048.
type probability uint16

const (
	probabilityBits = 11
	moveBits        = 5
	even            = probability(1 << probabilityBits / 2)
)

const (
	states       = 12
	positions    = 1 << 4 // of at most 4 bits
	firstMatched = 7      // states from here on are behind a match
	slots        = 64
	firstModel   = 4
	endModel     = 14
	nearBits     = 128 - endModel + 1
	minMatch     = 2
)

// An lzma unpacks the matches and literals of LZMA.
type lzma struct {
	coder
	literalBits, literalMask, positionMask uint32 // lc, and what lp and pb mean
	state                                  uint32
	reps                                   [4]uint32
	literals                               []probability
	isMatch, isRep0Long                    [states * positions]probability
	isRep, isRepG0, isRepG1, isRepG2       [states]probability
	slot                                   [4][slots]probability
	near                                   [nearBits]probability
	align                                  [16]probability
	lengths, repLengths                    lengths
}

// lengths are the probabilities of how long matches are.
type lengths struct {
	choice, choice2 probability
	low, middle     [positions][8]probability
	high            [256]probability
}

func (l *lzma) setProperties(b byte) bool {
	if b >= 9*5*5 {
		return false
	}
	lc, lp, pb := uint32(b%9), uint32(b/9%5), uint32(b/45)
	if lc+lp > 4 {
		return false
	}
	l.literalBits, l.literalMask, l.positionMask = lc, 1<<lp-1, 1<<pb-1
	n := 0x300 << (lc + lp)
	if cap(l.literals) < n {
		l.literals = make([]probability, n)
	}
	l.literals = l.literals[:n]
	return true
}

func fill(list []probability) {
	for i := range list {
		list[i] = even
	}
}

// numbers returns how many numbers a reset sets.
func (l *lzma) numbers() int {
	const others = 5000 // some more than there are
	return len(l.literals) + others
}

func (l *lzma) reset() {
	l.state, l.reps = 0, [4]uint32{}
	fill(l.literals)
	for _, list := range [][]probability{l.isMatch[:], l.isRep0Long[:], l.isRep[:], l.isRepG0[:], l.isRepG1[:], l.isRepG2[:], l.near[:], l.align[:]} {
		fill(list)
	}
	for i := range l.slot {
		fill(l.slot[i][:])
	}
	for _, x := range []*lengths{&l.lengths, &l.repLengths} {
		x.choice, x.choice2 = even, even
		fill(x.high[:])
		for i := range positions {
			fill(x.low[i][:])
			fill(x.middle[i][:])
		}
	}
}

// unpack appends size bytes to out, of which bytes from begin on may be copied.
func (l *lzma) unpack(in, out []byte, begin, size int) ([]byte, bool) {
	const start = 5
	if len(in) < start || in[0] != 0 {
		return nil, false
	}
	l.coder = coder{in: in[start:], length: 0xffffffff, code: binary.BigEndian.Uint32(in[1:])}
	end := len(out) + size
	for len(out) < end {
		position := uint32(len(out)-begin) & l.positionMask
		if l.bit(&l.isMatch[l.state<<4|position]) == 0 {
			out = append(out, l.literal(out, begin))
			continue
		}
		n := l.match(out, begin, position)
		distance := l.reps[0]
		if l.failed || uint64(distance) >= uint64(len(out)-begin) || n > end-len(out) {
			return nil, false
		}
		for range n { // it may reach into what it makes
			out = append(out, out[len(out)-int(distance)-1])
		}
	}
	return out, !l.failed
}

// literal returns the next byte.
func (l *lzma) literal(out []byte, begin int) byte {
	previous := uint32(0)
	if len(out) > begin {
		previous = uint32(out[len(out)-1])
	}
	at := (uint32(len(out)-begin)&l.literalMask)<<l.literalBits | previous>>(8-l.literalBits)
	list := l.literals[0x300*at:][:0x300]
	symbol := uint32(1)
	if distance := uint64(l.reps[0]); l.state >= firstMatched && distance < uint64(len(out)-begin) {
		matched := uint32(out[len(out)-int(distance)-1])
		for symbol < 0x100 {
			expected := matched >> 7 & 1
			matched <<= 1
			bit := l.bit(&list[(1+expected)<<8|symbol])
			symbol = symbol<<1 | bit
			if bit != expected {
				break
			}
		}
	}
	for symbol < 0x100 {
		symbol = symbol<<1 | l.bit(&list[symbol])
	}
	switch {
	case l.state < 4:
		l.state = 0
	case l.state < 10:
		l.state -= 3
	default:
		l.state -= 6
	}
	return byte(symbol)
}

// match reads a match, whose distance is then that of reps[0], and returns its length.
func (l *lzma) match(out []byte, begin int, position uint32) int {
	before := l.state
	after := func(low, high uint32) {
		l.state = low
		if before >= firstMatched {
			l.state = high
		}
	}
	if l.bit(&l.isRep[before]) == 0 {
		after(7, 10)
		n := l.lengths.read(&l.coder, position)
		copy(l.reps[1:], l.reps[:3])
		l.reps[0] = l.distance(n)
		return n
	}
	if l.bit(&l.isRepG0[before]) == 0 {
		if l.bit(&l.isRep0Long[before<<4|position]) == 0 {
			after(9, 11)
			return 1
		}
	} else {
		i := 1
		if l.bit(&l.isRepG1[before]) != 0 {
			i = 2 + int(l.bit(&l.isRepG2[before]))
		}
		distance := l.reps[i]
		copy(l.reps[1:i+1], l.reps[:i])
		l.reps[0] = distance
	}
	after(8, 11)
	return l.repLengths.read(&l.coder, position)
}

// read reads a length.
func (x *lengths) read(c *coder, position uint32) int {
	switch {
	case c.bit(&x.choice) == 0:
		return minMatch + int(c.tree(x.low[position][:]))
	case c.bit(&x.choice2) == 0:
		return minMatch + 8 + int(c.tree(x.middle[position][:]))
	}
	return minMatch + 16 + int(c.tree(x.high[:]))
}

// distance reads how far a match of a length is back, less one.
func (l *lzma) distance(length int) uint32 {
	slot := l.tree(l.slot[min(length-minMatch, 3)][:])
	if slot < firstModel {
		return slot
	}
	bits := slot>>1 - 1
	distance := (2 | slot&1) << bits
	if slot < endModel {
		return distance + l.reverse(l.near[distance-slot:], bits)
	}
	return distance + l.direct(bits-4)<<4 + l.reverse(l.align[:], 4)
}
