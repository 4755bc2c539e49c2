package linux

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// Numbers of the format ELF.
const (
	elfHead64, elfHead32         = 64, 52
	elfLoad, elfNote, executable = 1, 4, 1 // types and a flag of segments
	elfMaxSegments               = 1 << 10
	elfMaxNotes                  = 64 << 10
)

// An elfSegment is a part of a file that is mapped. Package debug/elf reads this, too, and
// keeps much else in a program.
type elfSegment struct {
	kind, flags           uint32
	offset, address, size uint64
}

// readELF reads the build id of an ELF file, and where its first segment with code is.
func readELF(r io.ReaderAt) any {
	order, segments := elfSegments(r)
	id := elfIdentity{Type: "ELF"}
	for _, s := range segments {
		if s.kind == elfLoad && s.flags&executable != 0 && id.Address == "" {
			id.Address, id.Offset = fmt.Sprintf("%#x", s.address), fmt.Sprintf("%#x", s.offset)
		}
		if s.kind == elfNote && id.BuildID == "" && int64(s.offset) >= 0 {
			notes, err := io.ReadAll(io.NewSectionReader(r, int64(s.offset), int64(min(s.size, elfMaxNotes))))
			if err == nil {
				id.BuildID = hex.EncodeToString(buildIDOf(notes, order))
			}
		}
	}
	if id.BuildID == "" {
		return nil
	}
	return id
}

// elfSegments returns the segments of a file, none if it is damaged.
func elfSegments(r io.ReaderAt) (order binary.ByteOrder, list []elfSegment) {
	head := make([]byte, elfHead64)
	if n, _ := r.ReadAt(head, 0); n < elfHead32 {
		return nil, nil
	}
	order = binary.LittleEndian
	if head[5] == 2 {
		order = binary.BigEndian
	}
	wide := head[4] == 2
	at, each, count := uint64(order.Uint32(head[28:])), int(order.Uint16(head[42:])), int(order.Uint16(head[44:]))
	least := 32
	if wide {
		at, each, count = order.Uint64(head[32:]), int(order.Uint16(head[54:])), int(order.Uint16(head[56:]))
		least = 56
	}
	if each < least || count > elfMaxSegments || int64(at) < 0 {
		return nil, nil
	}
	b := make([]byte, each*count)
	if _, err := r.ReadAt(b, int64(at)); err != nil {
		return nil, nil
	}
	for ; len(b) > 0; b = b[each:] {
		word := func(i int) uint64 { return uint64(order.Uint32(b[4*i:])) }
		s := elfSegment{kind: order.Uint32(b), flags: order.Uint32(b[24:]), offset: word(1), address: word(2), size: word(4)}
		if wide {
			s = elfSegment{kind: order.Uint32(b), flags: order.Uint32(b[4:]), offset: order.Uint64(b[8:]), address: order.Uint64(b[16:]), size: order.Uint64(b[32:])}
		}
		list = append(list, s)
	}
	return order, list
}
