package xca

import "encoding/binary"

// AppendPlain appends src, compressed as plain LZ77, to dst.
func AppendPlain(dst, src []byte) []byte {
	m := newMatcher(src)
	flagsAt, flagCount := 0, 32
	var flags uint32
	nibbleAt := -1
	flag := func(bit uint32) {
		if flagCount == 32 {
			if flagsAt > 0 {
				binary.LittleEndian.PutUint32(dst[flagsAt-1:], flags)
			}
			flagsAt, flagCount, flags = len(dst)+1, 0, 0
			dst = append(dst, 0, 0, 0, 0)
		}
		flags |= bit << (31 - flagCount)
		flagCount++
	}
	for at := 0; at < len(src); {
		dist, length := m.find(at, 0, 1<<13, len(src))
		if length == 0 {
			flag(0)
			dst = append(dst, src[at])
			at++
			continue
		}
		at += length
		flag(1)
		n := length - 3
		dst = binary.LittleEndian.AppendUint16(dst, uint16((dist-1)<<3|min(n, 7)))
		if n < 7 {
			continue
		}
		nibble := byte(min(n-7, 15))
		if nibbleAt < 0 {
			nibbleAt = len(dst)
			dst = append(dst, nibble)
		} else {
			dst[nibbleAt] |= nibble << 4
			nibbleAt = -1
		}
		if n-7 >= 15 {
			dst = appendLength(dst, n, 7+15)
		}
	}
	if flagsAt > 0 {
		// The system sets the unused flags: a match where the input has ended is
		// the end.
		flags |= uint32(uint64(1)<<(32-flagCount) - 1)
		binary.LittleEndian.PutUint32(dst[flagsAt-1:], flags)
	}
	return dst
}

// appendLength appends the length n, less 3, of which base is already said: as
// a byte, or after 255 in full.
func appendLength(dst []byte, n, base int) []byte {
	switch {
	case n-base < 255:
		return append(dst, byte(n-base))
	case n < 1<<16:
		return binary.LittleEndian.AppendUint16(append(dst, 255), uint16(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 255, 0, 0), uint32(n))
}
