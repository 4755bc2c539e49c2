package native

import (
	"encoding/binary"
	"math"
)

// Stripped files still say how all their code is unwound, and so where each function
// begins and ends.

// maxStarts bounds how many functions are taken of a file's unwinding data.
const maxStarts = 1 << 22

// frameStarts returns the functions that a file says how to unwind. They have no names.
func frameStarts(x *elfFile) []function {
	if s := x.section(".eh_frame"); s != nil {
		b, err := x.data(s)
		if err != nil {
			return nil
		}
		r := frameReader{x: x, b: b, address: s.address, formats: make(map[int]byte)}
		return r.all()
	}
	for i := range x.segments {
		if s := &x.segments[i]; s.kind == segmentFrames && len(x.sections) == 0 {
			b, err := x.bytes(s.at, s.n)
			if err != nil {
				return nil
			}
			r := frameReader{x: x, b: b, address: s.address}
			return r.index()
		}
	}
	return nil
}

// A frameReader reads unwinding data.
type frameReader struct {
	x       *elfFile
	b       []byte
	address uint64       // of the first byte
	formats map[int]byte // of addresses, by where entries say what others have in common
	list    []function
}

// all reads all entries: those with the common part of others, and functions.
func (r *frameReader) all() []function {
	const more = 0xffffffff
	for at := 0; at+8 <= len(r.b) && len(r.list) < maxStarts; {
		n, head := uint64(r.x.order.Uint32(r.b[at:])), 4
		if n == 0 {
			at += 4 // where the part of one object ends
			continue
		}
		if n == more {
			if at+16 > len(r.b) {
				break
			}
			n, head = r.x.order.Uint64(r.b[at+4:]), 12
		}
		id := at + head
		if n < 4 || n > uint64(len(r.b)-id) {
			break
		}
		end := id + int(n)
		if back := r.x.order.Uint32(r.b[id:]); back == 0 {
			r.common(at, r.b[id+4:end])
		} else if format, ok := r.formats[id-int(back)]; ok {
			r.function(id+4, end, format)
		}
		at = end
	}
	return r.list
}

// The parts of the formats of addresses.
const (
	formatOmitted  = 0xff
	formatKind     = 0x0f
	formatRelative = 0x70
	relativeToHere = 0x10
)

// common reads the common part of entries: in which format their addresses are.
func (r *frameReader) common(at int, b []byte) {
	if len(b) < 2 {
		return
	}
	version := b[0]
	end := 1
	for end < len(b) && b[end] != 0 {
		end++
	}
	if end == len(b) {
		return
	}
	what := string(b[1:end])
	b = b[end+1:]
	skip := func() {
		_, n := binary.Uvarint(b)
		b = b[max(n, 0):]
	}
	if what == "" {
		r.formats[at] = 0
		return
	}
	if what[0] != 'z' {
		return
	}
	skip() // the unit of code
	skip() // the unit of data
	if version == 1 {
		b = b[min(1, len(b)):] // where the return address is
	} else {
		skip()
	}
	skip() // how long what follows is
	for _, c := range what[1:] {
		if len(b) == 0 {
			return
		}
		switch c {
		case 'R':
			r.formats[at] = b[0]
			return
		case 'L':
			b = b[1:]
		case 'P':
			n := r.width(b[0])
			if n == 0 || len(b) < 1+n {
				return
			}
			b = b[1+n:]
		case 'S', 'B':
		default:
			return
		}
	}
	r.formats[at] = 0
}

// width returns how many bytes an address of a format has, or 0 if it is not known.
func (r *frameReader) width(format byte) int {
	switch format & formatKind {
	case 0:
		if r.x.wide {
			return 8
		}
		return 4
	case 2, 10:
		return 2
	case 3, 11:
		return 4
	case 4, 12:
		return 8
	}
	return 0
}

// value reads a number of a format.
func (r *frameReader) value(at, end int, format byte) (uint64, int, bool) {
	n := r.width(format)
	if n == 0 || at < 0 || at+n > end {
		return 0, 0, false
	}
	b, signed := r.b[at:], format&8 != 0
	var v uint64
	switch n {
	case 2:
		v = uint64(r.x.order.Uint16(b))
		if signed {
			v = uint64(int16(v))
		}
	case 4:
		v = uint64(r.x.order.Uint32(b))
		if signed {
			v = uint64(int32(v))
		}
	default:
		v = r.x.order.Uint64(b)
	}
	return v, at + n, true
}

// function reads where a function begins, and how long it is.
func (r *frameReader) function(at, end int, format byte) {
	begin, next, ok := r.value(at, end, format)
	if !ok || format == formatOmitted {
		return
	}
	switch format & formatRelative {
	case 0:
	case relativeToHere:
		begin += r.address + uint64(at)
	default:
		return
	}
	n, _, ok := r.value(next, end, format&formatKind&^8)
	if ok && n > 0 && begin <= math.MaxUint64-n {
		r.list = append(r.list, function{at: begin, size: n})
	}
}

// index reads the index of functions, of files without sections: where each begins.
func (r *frameReader) index() []function {
	const head, pairs = 4, 0x3b // pairs of signed numbers of 4 bytes, from the index on
	if len(r.b) < head || r.b[0] != 1 || r.b[3] != pairs {
		return nil
	}
	_, at, ok := r.value(head, len(r.b), r.b[1])
	if !ok {
		return nil
	}
	n, at, ok := r.value(at, len(r.b), r.b[2])
	if !ok {
		return nil
	}
	for ; n > 0 && at+8 <= len(r.b) && len(r.list) < maxStarts; n-- {
		begin, _, _ := r.value(at, len(r.b), pairs)
		r.list = append(r.list, function{at: begin + r.address})
		at += 8
	}
	return r.list
}
