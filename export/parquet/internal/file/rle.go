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

// bitsAt returns the number of that width at a bit, the lowest bit first.
func bitsAt(b []byte, at, width int) uint64 {
	b, at = b[at/8:], at%8
	var word [9]byte
	copy(word[:], b)
	v := binary.LittleEndian.Uint64(word[:]) >> at
	if at+width > 64 {
		v |= uint64(word[8]) << (64 - at)
	}
	return v & (1<<width - 1)
}

// A runs reads the output of appendHybrid.
type runs struct {
	b      []byte
	width  int
	left   int    // values of this run
	value  uint64 // all of them, or
	packed []byte // where each is, from
	at     int
	bad    bool
}

// next returns the next value.
func (r *runs) next() uint64 {
	if r.left == 0 && !r.begin() {
		r.bad = true
		return 0
	}
	r.left--
	if r.packed == nil {
		return r.value
	}
	r.at += r.width
	return bitsAt(r.packed, r.at-r.width, r.width)
}

// begin begins the next run.
func (r *runs) begin() bool {
	h, n := binary.Uvarint(r.b)
	if n <= 0 || h>>1 == 0 || h>>1 > maxPageLevels {
		return false
	}
	r.b = r.b[n:]
	r.left, r.packed, r.value, r.at = int(h>>1), nil, 0, 0
	size := (r.width + 7) / 8
	if h&1 != 0 {
		size = r.left * r.width
		r.left *= 8
	}
	if size > len(r.b) {
		return false
	}
	if h&1 != 0 {
		r.packed = r.b[:size:size]
	} else if size > 0 {
		r.value = bitsAt(r.b, 0, 8*size)
	}
	r.b = r.b[size:]
	return true
}

// A deltas reads the output of appendDeltas.
type deltas struct {
	b      []byte
	narrow bool
	last   int64
	least  int64
	widths []byte // of the parts of the block that come
	width  int    // of this part
	mini   []byte
	at     int // values of this part that were read
	first  bool
	bad    bool
}

// begin reads the head.
func (d *deltas) begin() {
	block, minis, _ := d.uvarint(), d.uvarint(), d.uvarint()
	d.last, d.first, d.at = d.varint(), true, deltaMini
	d.bad = d.bad || block != deltaBlock || minis != deltaBlock/deltaMini
}

func (d *deltas) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *deltas) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// next returns the next number.
func (d *deltas) next() uint64 {
	if d.first {
		d.first = false
		return uint64(d.last)
	}
	if d.at == deltaMini {
		if len(d.widths) == 0 {
			d.least = d.varint()
			if len(d.b) < deltaBlock/deltaMini {
				d.bad = true
				return 0
			}
			d.widths, d.b = d.b[:deltaBlock/deltaMini], d.b[deltaBlock/deltaMini:]
		}
		d.width, d.widths, d.at = int(d.widths[0]), d.widths[1:], 0
		if size := d.width * deltaMini / 8; d.width > 64 || size > len(d.b) {
			d.bad = true
			return 0
		}
		d.mini = d.b[:d.width*deltaMini/8]
		d.b = d.b[len(d.mini):]
	}
	d.last = number(uint64(d.last+d.least+int64(bitsAt(d.mini, d.at*d.width, d.width))), d.narrow)
	d.at++
	return uint64(d.last)
}
