package nettrace

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A magic is how a stream begins.
type magic struct {
	version int
	text    string
}

var magics = []magic{
	{4, layout.Magic4},
	{3, layout.Magic3},
	{6, layout.Magic6},
}

// magicSize is how many bytes of a stream tell its kind.
const magicSize = 32

// Recognizes reports whether a stream is one that the package reads, by its first
// bytes, of which 32 are enough. Two of them may be damaged.
func Recognizes(head []byte) bool {
	m, _ := recognize(head)
	return m != nil
}

// maxWrong is how many bytes of a magic may be wrong.
const maxWrong = 2

// recognize returns which magic head begins with, and how many bytes of it are
// wrong.
func recognize(head []byte) (found *magic, wrong int) {
	wrong = maxWrong + 1
	for i := range magics {
		m := &magics[i]
		if len(head) < len(m.text) {
			continue
		}
		if n := differing(head, m.text); n < wrong {
			found, wrong = m, n
		}
	}
	return found, wrong
}

// differing counts the bytes at the beginning of b that are not those of want.
func differing(b []byte, want string) (n int) {
	for i := range want {
		if b[i] != want[i] {
			n++
		}
	}
	return n
}

// openContainer recognises the stream by its first bytes. For version 6 it also returns the
// minor version. Without a container the damage says why there is none, with one a fault
// that can be done without.
func openContainer(s *source) (c container, version int, minor uint32, d *etw.Damage) {
	head, err := s.peek(magicSize)
	if err != nil && !isEnd(err) {
		return nil, 0, 0, damage(0, "magic", err)
	}
	m, wrong := recognize(head)
	if m == nil {
		if isETL(s) {
			return nil, 0, 0, damage(0, "magic", fmt.Errorf("%w: this is an .etl file: use package etl", ErrFormat))
		}
		if isBegun(head) {
			return nil, 0, 0, damage(int64(len(head)), "magic", ErrTruncated)
		}
		return nil, 0, 0, damage(0, "magic", ErrFormat)
	}
	if wrong > 0 {
		d = damage(0, "magic", layout.Damaged("%d bytes are wrong", wrong))
	}
	switch m.version {
	case 3:
		c = &objects{begin: layout.TagBegin}
	case 4:
		c = &objects{begin: layout.TagBeginPrivate}
	default:
		if len(head) < len(m.text)+4 {
			return nil, 0, 0, damage(int64(len(head)), "magic", ErrFormat)
		}
		c = plainBlocks{}
		major := binary.LittleEndian.Uint32(head[12:])
		minor = binary.LittleEndian.Uint32(head[16:])
		if isNext(major, 6) {
			return nil, 0, 0, damage(12, "magic", fmt.Errorf("%w: nettrace %d.%d", ErrVersion, major, minor))
		}
		s.take(4)
	}
	s.take(len(m.text))
	return c, m.version, minor, d
}

// isBegun reports whether head is the beginning of a magic, and no more.
func isBegun(head []byte) bool {
	return len(head) > 0 && slices.ContainsFunc(magics, func(m magic) bool { return strings.HasPrefix(m.text, string(head)) })
}

// isNext tells a version of a format that is still to come from one that is
// damaged.
func isNext(version, known uint32) bool { return version > known && version < 16 }

// isETL reports whether a stream is an .etl file: behind the header of a buffer
// stands the record that describes the session, which has one of two markers and
// the type 0 of group 0.
func isETL(s *source) bool {
	const bufferHeader = 0x48
	b, err := s.peek(bufferHeader + 8)
	if err != nil {
		return false
	}
	record := b[bufferHeader:]
	return (record[2] == 1 || record[2] == 2) && record[3] == 0xc0 && record[6] == 0 && record[7] == 0
}
