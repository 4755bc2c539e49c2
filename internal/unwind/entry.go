package unwind

import (
	"encoding/binary"
	"math"
)

// maxEntries bounds how many pieces of code are taken of a file.
const maxEntries = 1 << 22

// A Section says how pieces of code are unwound.
type Section struct {
	Bytes   []byte
	Address uint64 // of the first byte
	Order   binary.ByteOrder
	Wide    bool // addresses have 64 bits
	Debug   bool // it is .debug_frame, and not .eh_frame
}

// An Entry is how a piece of code, mostly a function, is unwound.
type Entry struct {
	Begin, Size uint64
	common      *common
	program     []byte
}

// A common is the part that entries share.
type common struct {
	format    byte // of addresses
	code      uint64
	data      int64
	ret       uint64 // the number of the register with the address of the caller
	augmented bool   // entries have data of their own before the program
	signal    bool   // the code is called by the kernel, anywhere in other code
	program   []byte
}

// Entries reads all entries of a section, up to where it is damaged.
func (s *Section) Entries() []Entry {
	r := reader{Section: s, commons: make(map[int]*common)}
	for at := 0; at+8 <= len(s.Bytes) && len(r.list) < maxEntries; {
		id, end, width := r.head(at)
		switch {
		case end == 0:
			return r.list
		case end == at+4: // where the part of one object ends
		default:
			r.entry(id, end, width)
		}
		at = end
	}
	return r.list
}

// A reader reads a section.
type reader struct {
	*Section
	commons map[int]*common // by where they are
	list    []Entry
}

// head reads the length of a record: its identity begins at id, has so many bytes, and the
// record ends at end, 0 if it is damaged.
func (r *reader) head(at int) (id, end, width int) {
	const more = 0xffffffff
	n, head, width := uint64(r.Order.Uint32(r.Bytes[at:])), 4, 4
	if n == more {
		if at+16 > len(r.Bytes) {
			return 0, 0, 0
		}
		if n, head = r.Order.Uint64(r.Bytes[at+4:]), 12; r.Debug {
			width = 8
		}
	}
	id = at + head
	if n > uint64(len(r.Bytes)-id) || n < uint64(width) && (n > 0 || head > 4) {
		return 0, 0, 0
	}
	return id, id + int(n), width
}

// identity returns where the common part of an entry is, or that the record is such a part.
func (r *reader) identity(id, width int) (at int, isCommon bool) {
	n := uint64(r.Order.Uint32(r.Bytes[id:]))
	all := uint64(math.MaxUint32)
	if width == 8 {
		n, all = r.Order.Uint64(r.Bytes[id:]), math.MaxUint64
	}
	switch {
	case r.Debug:
		return int(min(n, uint64(len(r.Bytes)))), n == all
	case n > uint64(id):
		return len(r.Bytes), false
	}
	return id - int(n), n == 0
}

// entry reads one that is no common part.
func (r *reader) entry(id, end, width int) {
	at, isCommon := r.identity(id, width)
	if isCommon {
		return
	}
	c, known := r.commons[at]
	if !known {
		c = r.common(at)
		r.commons[at] = c
	}
	if c == nil {
		return
	}
	c.read(r, id+width, end)
}

// read reads an entry behind its identity: where its code begins, and how long it is.
func (c *common) read(r *reader, at, end int) {
	begin, next, ok := r.value(at, end, c.format)
	if !ok || c.format == formatOmitted {
		return
	}
	switch c.format & formatRelative {
	case 0:
	case relativeToHere:
		begin += r.Address + uint64(at)
	default:
		return
	}
	n, next, ok := r.value(next, end, c.format&formatKind&^8)
	if !ok || n == 0 || begin > math.MaxUint64-n {
		return
	}
	b := cursor{b: r.Bytes[next:end]}
	if c.augmented {
		b.take(b.unsigned())
	}
	r.list = append(r.list, Entry{Begin: begin, Size: n, common: c, program: b.b})
}

// The parts of the formats of addresses.
const (
	formatOmitted  = 0xff
	formatKind     = 0x0f
	formatRelative = 0x70
	relativeToHere = 0x10
)

// common reads the common part of entries, or returns nil.
func (r *reader) common(at int) *common {
	if at < 0 || at+8 > len(r.Bytes) {
		return nil
	}
	id, end, width := r.head(at)
	if end == 0 || end < id+width {
		return nil
	}
	if _, isCommon := r.identity(id, width); !isCommon {
		return nil
	}
	b := cursor{b: r.Bytes[id+width : end]}
	c := new(common)
	version, augmentation := b.byte(), b.text()
	if version == 4 {
		b.take(2) // sizes of addresses
	}
	c.code, c.data = b.unsigned(), b.signed()
	if version == 1 {
		c.ret = uint64(b.byte())
	} else {
		c.ret = b.unsigned()
	}
	if augmentation != "" {
		if augmentation[0] != 'z' {
			return nil
		}
		c.augmented = true
		data := cursor{b: b.take(b.unsigned())}
		if !c.augment(r, augmentation[1:], &data) {
			return nil
		}
	}
	c.program = b.b
	if b.bad {
		return nil
	}
	return c
}

// augment reads the data whose kinds the letters are.
func (c *common) augment(r *reader, letters string, b *cursor) bool {
	for _, letter := range letters {
		switch letter {
		case 'R':
			c.format = b.byte()
		case 'L':
			b.byte()
		case 'P':
			n := r.width(b.byte())
			if n == 0 {
				return false
			}
			b.take(uint64(n))
		case 'S':
			c.signal = true
		case 'B': // return addresses are signed
		default:
			return false
		}
	}
	return !b.bad
}

// width returns how many bytes an address of a format has, or 0 if it is not known.
func (r *reader) width(format byte) int {
	switch format & formatKind {
	case 0:
		if r.Wide {
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
func (r *reader) value(at, end int, format byte) (uint64, int, bool) {
	n := r.width(format)
	if n == 0 || at < 0 || at+n > end {
		return 0, 0, false
	}
	b, signed := r.Bytes[at:], format&8 != 0
	var v uint64
	switch n {
	case 2:
		v = uint64(r.Order.Uint16(b))
		if signed {
			v = uint64(int16(v))
		}
	case 4:
		v = uint64(r.Order.Uint32(b))
		if signed {
			v = uint64(int32(v))
		}
	default:
		v = r.Order.Uint64(b)
	}
	return v, at + n, true
}

// Starts reads where pieces of code begin, of the index that files have in .eh_frame_hdr.
func (s *Section) Starts() []uint64 {
	const head, pairs = 4, 0x3b // pairs of signed numbers of 4 bytes, from the index on
	r := reader{Section: s}
	if len(r.Bytes) < head || r.Bytes[0] != 1 || r.Bytes[3] != pairs {
		return nil
	}
	_, at, ok := r.value(head, len(r.Bytes), r.Bytes[1])
	if !ok {
		return nil
	}
	n, at, ok := r.value(at, len(r.Bytes), r.Bytes[2])
	if !ok {
		return nil
	}
	var all []uint64
	for ; n > 0 && at+8 <= len(r.Bytes) && len(all) < maxEntries; n-- {
		begin, _, _ := r.value(at, len(r.Bytes), pairs)
		all = append(all, begin+r.Address)
		at += 8
	}
	return all
}
