package tlg

import "encoding/binary"

// scanX64 notes the references of x64 code: distances of four bytes, from the next instruction.
// Instructions are not decoded, but a byte before a distance says that there is one; behind it
// there may be a constant of one byte, or of four.
func (a *attribution) scanX64(code []byte, rva uint32) {
	const (
		distance = 4
		modMask  = 0xc7 // of the byte before, without the register
		relative = 0x05
	)
	for at := 1; at+distance <= len(code); at++ {
		if code[at-1]&modMask != relative {
			continue
		}
		place := rva + uint32(at)
		to := place + distance + binary.LittleEndian.Uint32(code[at:])
		for _, constant := range []uint32{0, 1, 4} {
			a.refer(place, to+constant)
		}
	}
}

// The instructions of ARM64 that make addresses: the page of one, and the offset added to it.
const (
	adrpMask, adrp = 0x9f000000, 0x90000000
	addMask, add   = 0xff800000, 0x91000000 // of 64 bits, with a constant
	loadMask, load = 0xbfc00000, 0xb9400000 // of 32 or 64 bits, from a register and a constant
	callMask, call = 0xfc000000, 0x94000000
	callReg        = 0xd63f0000
	callRegMask    = 0xfffffc1f
	pageBits       = 12
	registers      = 32
	temporary      = 19 // those below do not outlive a call
)

// scanARM64 notes the references of ARM64 code. It follows the addresses that registers get,
// from one instruction to the next, within a function.
func (a *attribution) scanARM64(code []byte, rva uint32) {
	var value [registers]uint32
	var known [registers]bool
	in := -1
	for at := 0; at+4 <= len(code); at += 4 {
		place := rva + uint32(at)
		w := binary.LittleEndian.Uint32(code[at:])
		d, n := w&31, w>>5&31
		switch {
		case w&adrpMask == adrp:
			if i := a.functionAt(place); i != in {
				in, known = i, [registers]bool{}
			}
			pages := int32(w<<8)>>11&^3 | int32(w>>29&3)
			value[d], known[d] = place&^(1<<pageBits-1)+uint32(pages)<<pageBits, true
		case w&addMask == add:
			constant := w >> 10 & 0xfff << (w >> 22 & 1 * pageBits)
			if known[d] = known[n]; known[n] {
				value[d] = value[n] + constant
				a.refer(place, value[d])
			}
		case w&loadMask == load:
			if known[n] {
				a.refer(place, value[n]+w>>10&0xfff<<(w>>30))
			}
			known[d] = false
		case w&callMask == call, w&callRegMask == callReg:
			clear(known[:temporary])
		}
	}
}
