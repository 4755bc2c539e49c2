// Package actid reads the ids and names that EventSources give activities. Ids are places in
// a tree.
package actid

import (
	"cmp"
	"encoding/binary"
	"iter"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// pathSum is the constant in the check sum of ids that are paths.
const pathSum = 0x599d99ad

// IsPath reports whether id is a place in the tree of activities: the last of its
// four words is the sum of the others, which may be mixed with the process.
func IsPath(id etw.GUID, pid int64) bool {
	if id.IsZero() {
		return false
	}
	has, n := binary.LittleEndian.Uint32(id[12:]), sum(id)
	return has == n || has == n^uint32(pid) || (n^has)>>20 == 0
}

// HasPID reports whether the sum is mixed with the process.
func HasPID(id etw.GUID, pid int64) bool {
	return binary.LittleEndian.Uint32(id[12:]) == sum(id)^uint32(pid) && pid != 0
}

// Text returns the text of an id, which holds numbers in nibbles: 1 to 10 are
// themselves, 12 to 15 say that one to four bytes follow, 11 comes before a number
// that overflowed, and 0 ends the list.
func Text(id etw.GUID, pid int64) string {
	if !IsPath(id, pid) {
		return id.String()
	}
	b := []byte("//")
	if HasPID(id, pid) {
		b = append(strconv.AppendInt([]byte("/#"), pid, 10), '/')
	}
	for n := range numbers(id) {
		if n.overflow {
			b = append(b, '$')
		}
		b = append(strconv.AppendUint(b, n.value, 10), '/')
	}
	return string(b)
}

// A number is one of those that a path has.
type number struct {
	value    uint64
	overflow bool // it counts what did not fit
	end      int  // in nibbles
}

// numbers iterates over those of a path.
func numbers(id etw.GUID) iter.Seq[number] {
	return func(yield func(number) bool) {
		p := id[:12]
		for at := 0; at < 2*len(p); {
			n := nibble(p, at)
			at++
			x := number{value: uint64(n), overflow: n == 11}
			if n == 0 || n == 11 && at >= 2*len(p) {
				return
			}
			if n == 11 {
				n = nibble(p, at)
				at++
			}
			if n == 11 || n < 11 && x.overflow {
				return
			}
			if n > 11 {
				x.value = 0
				if at%2 == 1 { // the rest of the byte has the high bits
					x.value = uint64(nibble(p, at))
					at++
				}
				bytes := int(n - 11)
				if at/2+bytes > len(p) {
					return
				}
				x.value <<= 8 * bytes
				for i := range bytes {
					x.value |= uint64(p[at/2+i]) << (8 * i)
				}
				at += 2 * bytes
			}
			x.end = at
			if !yield(x) {
				return
			}
		}
	}
}

// Parents iterates over the places that a path is below, the nearest first.
func Parents(id etw.GUID, pid int64) iter.Seq[etw.GUID] {
	return func(yield func(etw.GUID) bool) {
		var ends []int
		for n := range numbers(id) {
			if n.overflow {
				return // what it is below is not said
			}
			ends = append(ends, n.end)
		}
		for i := len(ends) - 2; i >= 0; i-- {
			if !yield(upTo(id, ends[i], pid)) {
				return
			}
		}
	}
}

// upTo returns the place that the first nibbles of a path are.
func upTo(id etw.GUID, nibbles int, pid int64) etw.GUID {
	mixed := uint32(0)
	if HasPID(id, pid) {
		mixed = uint32(pid)
	}
	clear(id[(nibbles+1)/2:])
	if nibbles%2 == 1 {
		id[nibbles/2] &= 0xf0
	}
	return Make(mixed, id[:12]...)
}

// Make returns the id of a path of bytes, mixed with a process, as the runtime makes it.
func Make(pid uint32, p ...byte) (id etw.GUID) {
	copy(id[:12], p)
	binary.LittleEndian.PutUint32(id[12:], sum(id)^pid)
	return id
}

// sum returns the check sum of an id.
func sum(id etw.GUID) uint32 {
	n := uint32(pathSum)
	for i := range 3 {
		n += binary.LittleEndian.Uint32(id[4*i:])
	}
	return n
}

// TaskName is the common part of start and stop: the name of the task, or that of the event
// without its end.
func TaskName(d *etw.EventDesc) string {
	return cmp.Or(d.TaskName, WithoutEnd(d.Name), d.Name)
}

// WithoutEnd returns a name without the word that tells starts and stops apart.
func WithoutEnd(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Start"), "Stop")
	return strings.TrimRight(name, "/.")
}

// nibble returns half of a byte, the high one first.
func nibble(p []byte, at int) byte {
	if at%2 == 0 {
		return p[at/2] >> 4
	}
	return p[at/2] & 0xf
}
