package requests

import (
	"encoding/binary"
	"strconv"

	"github.com/etwgen/etwgen/runtime/etw"
)

// pathSum is the constant in the check sum of ids that are paths.
const pathSum = 0x599d99ad

// isPath reports whether id is a place in the tree of activities: the last of its
// four words is the sum of the others, which may be mixed with the process.
func isPath(id etw.GUID, pid int64) bool {
	if id.IsZero() {
		return false
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(id[4*i:]) }
	sum := word(0) + word(1) + word(2) + pathSum
	return word(3) == sum || word(3) == sum^uint32(pid) || (sum^word(3))>>20 == 0
}

// hasPID reports whether the sum is mixed with the process.
func hasPID(id etw.GUID, pid int64) bool {
	sum := uint32(pathSum)
	for i := range 3 {
		sum += binary.LittleEndian.Uint32(id[4*i:])
	}
	return binary.LittleEndian.Uint32(id[12:]) == sum^uint32(pid) && pid != 0
}

// path returns the text of an id, which holds numbers in nibbles: 1 to 10 are
// themselves, 12 to 15 say that one to four bytes follow, 11 comes before a number
// that overflowed, and 0 ends the list.
func path(id etw.GUID, pid int64) string {
	if !isPath(id, pid) {
		return id.String()
	}
	b := []byte("//")
	if hasPID(id, pid) {
		b = append(strconv.AppendInt([]byte("/#"), pid, 10), '/')
	}
	p := id[:12]
	for at := 0; at < 2*len(p); {
		n := nibble(p, at)
		at++
		if n == 0 {
			break
		}
		if n <= 10 {
			b = append(strconv.AppendUint(b, uint64(n), 10), '/')
			continue
		}
		if n == 11 {
			if at >= 2*len(p) {
				break
			}
			b = append(b, '$')
			n = nibble(p, at)
			at++
		}
		if n < 12 {
			break
		}
		var value uint64
		if at%2 == 1 { // the rest of the byte has the high bits
			value = uint64(nibble(p, at))
			at++
		}
		bytes := int(n - 11)
		if at/2+bytes > len(p) {
			break
		}
		value <<= 8 * bytes
		for i := range bytes {
			value |= uint64(p[at/2+i]) << (8 * i)
		}
		at += 2 * bytes
		b = append(strconv.AppendUint(b, value, 10), '/')
	}
	return string(b)
}

// nibble returns half of a byte, the high one first.
func nibble(p []byte, at int) byte {
	if at%2 == 0 {
		return p[at/2] >> 4
	}
	return p[at/2] & 0xf
}
