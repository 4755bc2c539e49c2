package xca

import "encoding/binary"

// AppendLZNT1 appends src, compressed as LZNT1, to dst.
func AppendLZNT1(dst, src []byte) []byte {
	m := newMatcher(src)
	for low := 0; low < len(src); low += lznt1Chunk {
		high := min(low+lznt1Chunk, len(src))
		header := len(dst)
		dst = append(dst, 0, 0)
		dst = appendLZNT1Chunk(dst, m, low, high)
		size := len(dst) - header - 2
		kind := uint16(0xb000)
		if size >= high-low {
			// Incompressible data is stored.
			dst = append(dst[:header+2], src[low:high]...)
			size, kind = high-low, 0x3000
		}
		binary.LittleEndian.PutUint16(dst[header:], kind|uint16(size-1))
	}
	return append(dst, 0, 0)
}

func appendLZNT1Chunk(dst []byte, m *matcher, low, high int) []byte {
	flagsAt, flagCount := 0, 8
	for at := low; at < high; flagCount++ {
		if flagCount == 8 {
			flagsAt, flagCount = len(dst), 0
			dst = append(dst, 0)
		}
		lengthBits := lznt1LengthBits(at - low)
		dist, length := m.find(at, low, 1<<(16-lengthBits), min(1<<lengthBits+2, high-at))
		if length == 0 {
			dst = append(dst, m.data[at])
			at++
			continue
		}
		dst[flagsAt] |= 1 << flagCount
		dst = binary.LittleEndian.AppendUint16(dst, uint16((dist-1)<<lengthBits|(length-3)))
		at += length
	}
	return dst
}
