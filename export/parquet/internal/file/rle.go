package file

import (
	"encoding/binary"
	"math/bits"
)

// appendHybrid appends values of a width in bits in the hybrid of run lengths and
// packed bits. It takes runs of eight and more as such.
func appendHybrid[T uint8 | uint32](b []byte, values []T, width int) []byte {
	start := 0 // of the values that are to be packed
	for i := 0; i < len(values); {
		run := 1
		for i+run < len(values) && values[i+run] == values[i] {
			run++
		}
		// Packed values come in eights: the run fills the last ones up.
		if fill := (8 - (i-start)%8) % 8; run >= fill+8 {
			i += fill
			run -= fill
			b = appendPackedRun(b, values[start:i], width)
			b = binary.AppendUvarint(b, uint64(run)<<1)
			for k := 0; k < width; k += 8 {
				b = append(b, byte(uint32(values[i])>>k))
			}
			i += run
			start = i
			continue
		}
		i += run
	}
	return appendPackedRun(b, values[start:], width)
}

// appendPackedRun appends values as a run of packed bits.
func appendPackedRun[T uint8 | uint32](b []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return b
	}
	groups := (len(values) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	var p packer
	for _, v := range values {
		b = p.append(b, uint64(v), width)
	}
	for n := len(values); n < 8*groups; n++ {
		b = p.append(b, 0, width)
	}
	return p.flush(b)
}

// A packer collects bits, the lowest first.
type packer struct {
	word uint64
	n    int
}

func (p *packer) append(b []byte, v uint64, width int) []byte {
	p.word |= v << p.n
	if p.n += width; p.n < 64 {
		return b
	}
	b = binary.LittleEndian.AppendUint64(b, p.word)
	p.n -= 64
	p.word = 0
	if p.n > 0 {
		p.word = v >> (width - p.n)
	}
	return b
}

// flush appends the bits that are left, in whole bytes.
func (p *packer) flush(b []byte) []byte {
	for ; p.n > 0; p.n -= 8 {
		b = append(b, byte(p.word))
		p.word >>= 8
	}
	p.word, p.n = 0, 0
	return b
}

// The shape of blocks of differences.
const (
	deltaBlock = 128
	deltaMini  = 32
)

// appendDeltas appends numbers as their differences. Those of 32 bits wrap around
// in these.
func appendDeltas(b []byte, values []uint64, narrow bool) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaBlock/deltaMini)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return append(b, 0)
	}
	last := number(values[0], narrow)
	b = binary.AppendVarint(b, last)
	var deltas [deltaBlock]int64
	for rest := values[1:]; len(rest) > 0; {
		n := min(len(rest), deltaBlock)
		for i, v := range rest[:n] {
			next := number(v, narrow)
			deltas[i] = number(uint64(next-last), narrow)
			last = next
		}
		b = appendDeltaBlock(b, deltas[:n], narrow)
		rest = rest[n:]
	}
	return b
}

// number returns v as the number that it is in 32 bits, or in 64.
func number(v uint64, narrow bool) int64 {
	if narrow {
		return int64(int32(v))
	}
	return int64(v)
}

// appendDeltaBlock appends up to 128 differences.
func appendDeltaBlock(b []byte, deltas []int64, narrow bool) []byte {
	least := deltas[0]
	for _, d := range deltas {
		least = min(least, d)
	}
	b = binary.AppendVarint(b, least)
	widths := len(b)
	b = append(b, 0, 0, 0, 0)
	var p packer
	for k := 0; len(deltas) > 0; k++ {
		mini := deltas[:min(len(deltas), deltaMini)]
		deltas = deltas[len(mini):]
		var all uint64
		for i, d := range mini {
			over := uint64(d - least)
			if narrow {
				over = uint64(uint32(over))
			}
			mini[i] = int64(over)
			all |= over
		}
		width := bits.Len64(all)
		b[widths+k] = byte(width)
		for _, over := range mini {
			b = p.append(b, uint64(over), width)
		}
		for n := len(mini); n < deltaMini; n++ {
			b = p.append(b, 0, width)
		}
		b = p.flush(b)
	}
	return b
}
